"""The time that hooks take."""

from __future__ import annotations

from pathlib import Path

from callboard.contracts.commands.turn import InterruptTurn
from callboard.contracts.facts.model import CostRecorded, ModelCompleted
from callboard.runtime.clock import Clock
from tests.runtime.permissions.test_hooks import DONE, WRITE, find_facts, write_hooks
from tests.runtime.rigs.runtime_rig import calls
from tests.runtime.rigs.trusted_folder import open_with_settings
from tests.tools.rigs.hooks import Scripts
from tests.tools.rigs.processes import wait_until


class StoppedClock(Clock):
    """A clock that advances only when a test advances it."""

    def __init__(self) -> None:
        self.passed = 0.0

    def elapsed(self) -> float:
        return self.passed


async def test_the_time_of_hooks_does_not_count_as_model_time(tmp_path: Path) -> None:
    """UI-32"""
    go, clock, scripts = tmp_path / "go", StoppedClock(), Scripts(tmp_path / "hooks")
    slow = scripts.hook("slow", f"import os, time\nwhile not os.path.exists({str(go)!r}): time.sleep(0.01)")
    async with open_with_settings(tmp_path, calls(WRITE, DONE), user=write_hooks(slow), clock=clock) as rig:
        turn = await rig.submit("go", permission_mode="full")
        await wait_until(lambda: scripts.read_inputs("slow"))
        clock.passed = 20.0
        go.touch()
        await rig.until(turn.session_id, "turn.completed")
        assert [fact.duration_ms for fact in await find_facts(rig, turn.session_id, ModelCompleted)] == [0, 0]


async def test_a_response_that_finished_before_the_interrupt_is_recorded_with_its_usage(tmp_path: Path) -> None:
    """CTL-08: it was paid for, although the hooks of its call were still running."""
    scripts = Scripts(tmp_path / "hooks")
    slow = scripts.hook("slow", "import time\ntime.sleep(60)")
    steps = [{"reasoning": "First a note."}, {"text": "I write it."}, *WRITE, {"usage": {"input": 1200, "output": 80}}]
    async with open_with_settings(tmp_path, calls(steps), user=write_hooks(slow)) as rig:
        turn = await rig.submit("go", permission_mode="full")
        await wait_until(lambda: scripts.read_inputs("slow"))
        await rig.do(InterruptTurn(session_id=turn.session_id))
        await rig.until(turn.session_id, "turn.interrupted")
        facts = await rig.facts(turn.session_id)
        after = next(at for at, record in enumerate(facts) if record.header.type == "turn.interrupt.requested") + 1
        assert [record.header.type for record in facts[after:]] == [
            "reasoning.completed",
            "message.text",
            "model.completed",
            "cost.recorded",
            "turn.interrupted",
        ]
        cost = facts[after + 3].fact
        assert isinstance(cost, CostRecorded)
        assert (cost.input_tokens, cost.output_tokens) == (1200, 80)
        assert not await rig.runtime.dependencies.store.partials.read(turn.session_id)
