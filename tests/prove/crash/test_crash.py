"""A store after kills, at the scale of a test. `make prove-crash` is the long run."""

from __future__ import annotations

import pytest

from tests.prove.crash import checks, proof

#: Real processes that are killed often, on a machine that is busy with other tests.
pytestmark = pytest.mark.timeout(600)

#: A start and a write may be slow while other tests run.
PATIENT = proof.Within(truth=60.0, writing=5.0)


async def test_after_kill_9_nothing_acknowledged_is_missing_and_nothing_ran_twice(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """CTL-01, CTL-04, CTL-06, CTL-16, CTL-17, COM-08, MAR-14, MAR-16."""
    code = await proof.prove(3, "", 1, PATIENT)

    assert code == 0, capsys.readouterr().out


async def test_the_proof_of_crashes_fails_where_acknowledgements_come_before_the_commit(
    capsys: pytest.CaptureFixture[str],
) -> None:
    # It ends at the first kill that shows the fault. Not each kill falls between an acknowledgement
    # and its commit.
    code = await proof.prove(40, "ack-before-commit", 1, proof.Within())

    output = capsys.readouterr().out
    assert code == 1
    assert any(f"FAIL {claim}" in output for claim in checks.MISSING), output
