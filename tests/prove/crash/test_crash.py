"""What a kill leaves, at the scale of a test. `make prove-crash` is the long run."""

from __future__ import annotations

import pytest

from tests.prove.crash import checks, proof

#: Real processes, started and killed many times, beside whatever else runs here.
pytestmark = pytest.mark.timeout(600)

#: Other tests run beside this one: a start and a write may be slow here without anything being wrong.
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
    # It ends with the first kill that shows it; not each kill falls between an acknowledgement and its commit.
    code = await proof.prove(40, "ack-before-commit", 1, proof.Within())

    told = capsys.readouterr().out
    assert code == 1
    assert any(f"FAIL {claim}" in told for claim in checks.MISSING), told
