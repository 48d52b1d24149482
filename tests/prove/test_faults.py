"""The proof of faults, and that it fails where syncs are only claimed or times follow the wall clock."""

from __future__ import annotations

import pytest

from .faults import __main__ as faults
from .faults import clocks

#: Real processes, started many times, beside whatever else runs here.
pytestmark = pytest.mark.timeout(480)


async def test_nothing_acknowledged_is_lost_by_a_fault(capsys: pytest.CaptureFixture[str]) -> None:
    """R1, R3, R7: lost power, a full disk and steps of the clock."""
    code = await faults.prove(1, "", seed=7)

    assert code == 0, capsys.readouterr().out


async def test_the_proof_of_faults_fails_where_nothing_is_synced(capsys: pytest.CaptureFixture[str]) -> None:
    """CTL-01"""
    code = await faults.prove(1, "no-sync", seed=7)

    printed = capsys.readouterr().out
    assert code == 1
    assert "FAIL what was acknowledged survives a loss of power" in printed, printed


async def test_the_proof_of_faults_fails_where_times_follow_the_wall_clock(capsys: pytest.CaptureFixture[str]) -> None:
    """R1"""
    code = await faults.prove(1, clocks.FOLLOWS, seed=7)

    printed = capsys.readouterr().out
    assert code == 1
    assert f"FAIL {clocks.RUNS}" in printed, printed
    assert f"FAIL {clocks.FACT}" in printed, printed
