"""R1: a system clock that is set while the process runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from callboard.contracts.facts.session import WarningRaised
from callboard.contracts.scope import Scope
from callboard.contracts.times import format_timestamp
from callboard.runtime.clock import Clock
from tests.runtime.rigs.runtime_rig import open_runtime, says
from tests.runtime.rigs.team import list_facts

SECOND = 1_000_000
DAY = 86_400 * SECOND


class Machine(Clock):
    """A machine whose clocks a test moves."""

    def __init__(self) -> None:
        self.walls, self.steadies = 1_000 * DAY, 5 * SECOND

    def wall(self) -> int:
        return self.walls

    def steady(self) -> int:
        return self.steadies

    def passes(self, seconds: int, *, drift: int = 0) -> None:
        """Advance both clocks, and the wall clock by `drift` microseconds more."""
        self.steadies += seconds * SECOND
        self.walls += seconds * SECOND + drift


def test_setting_the_clock_ten_days_ahead_and_back_changes_no_time() -> None:
    """R1"""
    clock = Machine()
    began = clock.now()
    clock.passes(5, drift=10 * DAY)
    assert clock.now() == began + 5 * SECOND
    clock.passes(70)
    assert clock.now() == began + 75 * SECOND
    clock.passes(5, drift=-10 * DAY)
    assert clock.now() == began + 80 * SECOND


def test_corrections_by_a_time_server_are_followed() -> None:
    """R1"""
    clock = Machine()
    began = clock.now()
    for _ in range(10):
        clock.passes(60, drift=2 * SECOND)
        clock.now()
    assert clock.now() == began + 620 * SECOND


def test_a_step_is_reported_once_and_a_correction_is_not() -> None:
    """R1: the first call has nothing to compare with."""
    clock = Machine()
    clock.walls += DAY
    assert clock.step() == 0
    clock.passes(60, drift=2 * SECOND)
    assert clock.step() == 0
    clock.passes(60, drift=-10 * DAY)
    assert (clock.step(), clock.step()) == (-10 * DAY, 0)
    clock.passes(60, drift=10 * DAY)
    assert clock.step() == 10 * DAY


@pytest.mark.parametrize(("by", "code", "how"), [(10, "clock_stepped", "ahead"), (-10, "clock_went_back", "back")])
async def test_open_sessions_record_that_the_clock_was_set(tmp_path: Path, by: int, code: str, how: str) -> None:
    """R1: times of facts do not change, and one step is one fact."""
    clock = Machine()
    async with open_runtime(tmp_path, {"calls": [says("Yes.")]}, clock=clock) as rig:
        turn = await rig.submit("Hello.", mode="chat")
        await rig.until(turn.session_id, "turn.completed")
        before = clock.now()
        clock.passes(30, drift=by * DAY)
        for _ in range(2):
            await rig.runtime.sessions.sweep()

        (raised,) = [record for record in await rig.facts(turn.session_id) if isinstance(record.fact, WarningRaised)]
        assert (raised.header.at, raised.scope) == (before + 30 * SECOND, Scope(thread=turn.thread_id))
        (warning,) = await list_facts(rig, turn.session_id, WarningRaised)
        now = format_timestamp(before + 30 * SECOND)
        notice = f"Callboard keeps its own time, now {now}, until it starts again."
        assert (warning.code, warning.message) == (code, f"The machine's clock was set {how} by 864000 s. {notice}")


def test_the_next_process_starts_from_the_wall_clock() -> None:
    """R1"""
    clock = Machine()
    clock.now()
    clock.passes(5, drift=10 * DAY)
    after = Machine()
    after.walls, after.steadies = clock.walls, clock.steadies
    assert after.now() == clock.now() + 10 * DAY
