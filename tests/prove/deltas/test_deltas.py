"""A long reply in many pieces at the scale of a test. `make prove-deltas` is the long run."""

from __future__ import annotations

import pytest

from tests.prove.deltas import proof

#: Real processes that are killed often, on a machine that is busy with other tests.
pytestmark = pytest.mark.timeout(300)

#: Seconds that a write may take while other tests run.
WRITING = 5.0


async def test_a_reply_in_many_pieces_costs_its_content_and_a_handful_of_facts(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """COM-10, UI-30: a viewer who comes in the middle gets the text so far, then the rest."""
    code = await proof.prove(20_000, "", WRITING)

    assert code == 0, capsys.readouterr().out


async def test_the_proof_of_long_replies_fails_if_partials_are_not_stored(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code = await proof.prove(20_000, "drop-partial", WRITING)

    output = capsys.readouterr().out
    assert code == 1
    assert "FAIL what was shown before kill -9 is there after it, as interrupted" in output, output
