"""What hooks take in time, which is told of nothing else."""

from __future__ import annotations

from pathlib import Path

from callboard.contracts.facts import ModelCompleted
from callboard.runtime.clock import Clock
from tests.tools.hooking import Scripts
from tests.tools.processes import until

from .house import calls
from .test_hooks import DONE, WRITE, of, toml
from .trusted import settled


class Stood(Clock):
    """A clock whose durations are only as long as a test makes them."""

    def __init__(self) -> None:
        self.passed = 0.0

    def elapsed(self) -> float:
        return self.passed


async def test_what_hooks_take_is_no_time_of_the_model(tmp_path: Path) -> None:
    """UI-32"""
    go, clock, scripts = tmp_path / "go", Stood(), Scripts(tmp_path / "hooks")
    slow = scripts.hook("slow", f"import os, time\nwhile not os.path.exists({str(go)!r}): time.sleep(0.01)")
    async with settled(tmp_path, calls(WRITE, DONE), user=toml(slow), clock=clock) as home:
        turn = await home.submit("go", permission_mode="full")
        await until(lambda: scripts.asked("slow"))
        clock.passed = 20.0
        go.touch()
        await home.until(turn.session_id, "turn.completed")
        assert [one.duration_ms for one in await of(home, turn.session_id, ModelCompleted)] == [0, 0]
