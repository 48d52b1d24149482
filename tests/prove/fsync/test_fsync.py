"""The order of sync and acknowledgement, by tracing."""

from __future__ import annotations

import pytest

from tests.prove.fsync import proof

#: Real processes that are killed often, on a machine that is busy with other tests.
pytestmark = pytest.mark.timeout(300)


async def test_the_proof_of_syncs_fails_where_acknowledgements_come_before_the_commit(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """CTL-01. The proof of crashes includes its success."""
    code = await proof.prove(2, "ack-before-commit")

    output = capsys.readouterr().out
    assert code == 1
    assert "FAIL bytes about a turn leave after its facts were synced" in output, output
