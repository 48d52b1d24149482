"""Handoffs over kills at the scale of a test. `make prove-inbox` is the long run."""

from __future__ import annotations

import pytest

from tests.prove.inbox import proof

#: Real processes that are killed often, on a machine that is busy with other tests.
pytestmark = pytest.mark.timeout(300)


async def test_a_handoff_is_consumed_exactly_once_and_in_order_over_kill_9(capsys: pytest.CaptureFixture[str]) -> None:
    """COM-06, COM-07, COM-08, COM-09: one kill after each fact of a handoff, and one when all is
    done.
    """
    code = await proof.prove(6, "", 1)

    assert code == 0, capsys.readouterr().out


async def test_the_proof_of_inboxes_fails_where_a_consumption_leaves_no_fact(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code = await proof.prove(1, "unsaid:inbox.consumed", 1)

    output = capsys.readouterr().out
    assert code == 1
    assert f"FAIL {proof.ONCE}" in output, output
