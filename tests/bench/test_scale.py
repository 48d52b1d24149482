"""Many sessions at once: what the row does with turns that fail."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from bench.harness import Scale
from bench.rows import scale
from bench.workers.concurrent_sessions import EACH, measure

#: Two orders of two turns, and an order without turns that reads the later work.
COSTS: scale.Costs = {
    scale.OURS: [(8.0, 100.0, 2), (8.0, 1.0, 2), (0.0, 3.0, 0)],
    "agno": [(4.0, 100.0, 2), (4.0, 0.0, 2), (0.0, 0.0, 0)],
}


class LockedStore:
    """A system whose turns fail in some of its sessions, like one with a locked database."""

    def __init__(self, locked: set[str]) -> None:
        self._locked = locked

    async def open(self, folder: Path) -> None: ...

    async def turn(self, session: str) -> None:
        if session in self._locked:
            raise OSError("database is locked")

    async def close(self) -> None: ...


def _names() -> Iterator[str]:
    return (f"session-{number}" for number in count())


async def test_a_failed_turn_is_counted_and_the_other_turns_are_measured() -> None:
    """A system that fails when much runs at once must not end the bench, and must not look faster."""
    answer = await measure(LockedStore({"session-0"}), _names(), at_once=2, turns=4 * EACH)

    assert len(answer["spent"]) == 3 * EACH
    assert answer["errors"] == ["OSError: database is locked"] * EACH


def _measurements(locked: dict[str, bool]) -> scale.Measurements:
    measured: scale.Measurements = {(name, 1): scale.Rounds() for name in locked}
    for name, fails in locked.items():
        spent = [] if fails else [2.0, 4.0]
        errors = ["OSError: database is locked"] * (2 if fails else 0)
        measured[name, 1].add({"spent": spent, "errors": errors, "seconds": 0.01, "worked": 5.0})
    return measured


def test_a_peer_without_a_completed_turn_has_failures_and_no_figures(tmp_path: Path) -> None:
    measured = _measurements({scale.OURS: False, "agno": True})

    lines = list(scale.lines(measured, COSTS, ["agno"], [1]))
    compared = {line.label for line in lines if line.baseline_name}
    notes = list(
        scale.notes(Scale(n=3, rounds=1, peers=True, place=tmp_path), measured, ["agno"], {"agno": ["wal", "FULL"]})
    )

    assert compared == {"failed turns, all widths"}
    assert [line.baseline.median for line in lines if line.baseline is not None] == [2]
    assert any("database is locked" in note for note in notes)


@pytest.mark.parametrize(("rate", "met"), [(0.5, False), (2.0, True)])
def test_the_goals_are_those_of_the_greatest_width(rate: float, met: bool) -> None:
    """Issue goals: as many turns a second as each peer, and a p99 that is not above the peer's."""
    measured: scale.Measurements = {(name, width): scale.Rounds() for name in (scale.OURS, "agno") for width in (1, 4)}
    for (name, _), rounds in measured.items():
        spent = [10.0 / rate if name == scale.OURS else 10.0] * 4
        rounds.add({"spent": spent, "errors": [], "seconds": sum(spent) / 1000, "worked": 5.0})

    aimed = {
        line.label: line.met
        for line in scale.lines(measured, COSTS, ["agno"], [1, 4])
        if line.baseline_name and line.goal
    }

    assert aimed == {"turns per second, 4 at once": met, "p99 of a turn, 4 at once": met}


def test_work_that_a_system_postpones_is_part_of_its_cpu_time() -> None:
    """Work moved behind the end of a turn must not look like saved work. What the start left over is not counted."""
    measured = _measurements({scale.OURS: False, "agno": False})

    costs = [line for line in scale.lines(measured, COSTS, ["agno"], [1]) if "later work" in line.label]

    assert [(line.value.median, line.baseline and line.baseline.median) for line in costs] == [(5.0, 2.0)]
