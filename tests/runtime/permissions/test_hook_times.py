"""What hooks take in time, which is told of nothing else."""

from __future__ import annotations

from pathlib import Path

from callboard.contracts.commands import InterruptTurn
from callboard.contracts.facts import CostRecorded, ModelCompleted
from callboard.runtime.clock import Clock
from tests.runtime.permissions.test_hooks import DONE, WRITE, of, toml
from tests.runtime.rigs.house import calls
from tests.runtime.rigs.trusted_folder import settled
from tests.tools.rigs.hooks import Scripts
from tests.tools.rigs.processes import until


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


async def test_an_answer_that_came_before_the_turn_was_stopped_is_told_with_what_it_took(tmp_path: Path) -> None:
    """CTL-08: it was paid for, though hooks were still being asked about its call."""
    scripts = Scripts(tmp_path / "hooks")
    slow = scripts.hook("slow", "import time\ntime.sleep(60)")
    asked = [{"reasoning": "First a note."}, {"text": "I write it."}, *WRITE, {"usage": {"input": 1200, "output": 80}}]
    async with settled(tmp_path, calls(asked), user=toml(slow)) as home:
        turn = await home.submit("go", permission_mode="full")
        await until(lambda: scripts.asked("slow"))
        await home.do(InterruptTurn(session_id=turn.session_id))
        await home.until(turn.session_id, "turn.interrupted")
        facts = await home.facts(turn.session_id)
        after = next(at for at, one in enumerate(facts) if one.header.type == "turn.interrupt.requested") + 1
        assert [one.header.type for one in facts[after:]] == [
            "reasoning.completed",
            "message.text",
            "model.completed",
            "cost.recorded",
            "turn.interrupted",
        ]
        cost = facts[after + 3].fact
        assert isinstance(cost, CostRecorded)
        assert (cost.input_tokens, cost.output_tokens) == (1200, 80)
        assert not await home.runtime.dependencies.store.partials.read(turn.session_id)
