"""The proof of faults, and its failure if syncs are missing or times follow the wall clock."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.prove.faults import clocks
from tests.prove.faults import proof as faults
from tests.prove.faults.trace import Disk, Operation

#: Real processes that start often, on a machine that is busy with other tests.
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


def test_a_file_that_was_removed_is_not_there_after_a_loss_of_power(tmp_path: Path) -> None:
    """R3: SQLite would roll back a journal that came back."""
    disk, remaining, gone = Disk(tmp_path), tmp_path / "kept", tmp_path / "gone"
    for inode, path in enumerate((remaining, gone)):
        disk.apply(Operation("W", inode, 0, str(path), b"text"))
        disk.apply(Operation("S", inode, 0, str(path), b""))
    disk.apply(Operation("U", 0, 0, str(gone), b""))

    disk.lose_power(tmp_path / "left")

    assert [path.name for path in (tmp_path / "left").iterdir()] == ["kept"]
