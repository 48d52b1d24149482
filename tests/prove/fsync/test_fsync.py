"""An acknowledgement leaves after the sync, seen by tracing."""

from __future__ import annotations

import pytest

from tests.prove.fsync import proof

#: Real processes, started and killed many times, beside whatever else runs here.
pytestmark = pytest.mark.timeout(300)


async def test_the_proof_of_syncs_fails_where_acknowledgements_come_before_the_commit(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """CTL-01. That it passes without is part of the proof of crashes."""
    code = await proof.prove(2, "ack-before-commit")

    told = capsys.readouterr().out
    assert code == 1
    assert "FAIL bytes that tell of a turn leave after its facts were synced" in told, told
