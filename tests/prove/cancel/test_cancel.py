"""Cancelled trees at the scale of a test. `make prove-cancel` is the long run."""

from __future__ import annotations

import pytest

from tests.prove.cancel import proof

#: Real processes that are killed often, on a machine that is busy with other tests.
pytestmark = pytest.mark.timeout(300)

#: Seconds that ending a process tree may take while other tests run.
WITHIN = 20.0


async def test_a_cancel_at_any_moment_ends_the_whole_tree_for_good(capsys: pytest.CaptureFixture[str]) -> None:
    """CTL-08, MAR-10, MAR-16: detached processes end too, finished children stay finished, no model
    is asked again.
    """
    code = await proof.prove(4, "", 1, WITHIN)

    assert code == 0, capsys.readouterr().out


async def test_the_proof_of_cancelling_fails_where_a_cancel_does_not_reach_the_children(
    capsys: pytest.CaptureFixture[str],
) -> None:
    # It ends at the first tree with a process that lives on.
    code = await proof.prove(4, "no-cascade", 1, within=1.0)

    output = capsys.readouterr().out
    assert code == 1
    assert f"FAIL {proof.ALIVE.format(within=1.0)}" in output, output
