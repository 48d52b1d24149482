"""Stored data of earlier versions and damaged bytes at the scale of a test.

`make prove-upgrade` is the long run.
"""

from __future__ import annotations

import pytest

from tests.prove.upgrade import proof

#: Real processes that start often, on a machine that is busy with other tests.
pytestmark = pytest.mark.timeout(600)

#: An opening may be slow while other tests run.
PATIENT = 60.0


async def test_golden_stores_open_and_a_changed_byte_is_refused_or_changes_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """S1, S2: one changed byte in each table, and the stored views of an earlier version."""
    code = await proof.prove(7, "", 1, PATIENT)

    assert code == 0, capsys.readouterr().out


async def test_the_proof_of_upgrades_fails_where_derived_bytes_are_trusted(capsys: pytest.CaptureFixture[str]) -> None:
    code = await proof.prove(40, "trust-derived", 1, PATIENT, "views.db")

    output = capsys.readouterr().out
    assert code == 1
    assert any(f"FAIL {claim}" in output for claim in (proof.FACTS, proof.ROWS, proof.REASON)), output
