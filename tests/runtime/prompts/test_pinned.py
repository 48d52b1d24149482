"""A run keeps the configuration that it started with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from callboard.contracts.commands.action import RespondAction
from callboard.contracts.commands.turn import InterruptTurn
from callboard.contracts.facts.tool import ToolRefused
from callboard.contracts.facts.turn import TurnStarted
from tests.runtime.rigs.runtime_rig import ChangingDefinitions, RuntimeRig, calls, open_runtime, says, use_tool

WRITE: list[dict[str, Any]] = use_tool("Write", file_path="a.txt", content="x\n")

FILES = ("Bash", "Edit", "Glob", "Grep", "Read", "ReadOutput", "Write")


async def read_prompt_layers(rig: RuntimeRig, session: str) -> list[tuple[str, ...]]:
    """Return the prompt layers of the session's open runs."""
    host = (await rig.runtime.sessions.get(session)).host
    runs = [thread.run for thread in host.state.threads.values() if thread.run is not None]
    return [(await host.run_contexts.get_start(run)).system for run in runs]


async def test_a_waiting_run_keeps_its_configuration_over_a_restart(tmp_path: Path) -> None:
    """CTL-06: the definition changed while the approval was pending; the next turn has the new one."""
    agents = ChangingDefinitions(prompt="You write.", hash="1" * 64, max_iters=7)
    scenario = calls(WRITE, says("Done."), WRITE, says("Done."))
    async with open_runtime(tmp_path, scenario, agents) as rig:
        turn = await rig.submit("write")
        action = await rig.until(turn.session_id, "action.required")
        before = await read_prompt_layers(rig, turn.session_id)
        assert before[0][1] == "You write."
    agents.change(prompt="You only read.", hash="2" * 64, policy=("Finalize",), tools=("Read", "Write"), max_iters=9)
    async with open_runtime(tmp_path, scenario, agents) as rig:
        session = turn.session_id
        assert await read_prompt_layers(rig, session) == before
        await rig.do(RespondAction(session_id=session, action_id=action.scope.action, decision="approve"))
        await rig.until(session, "turn.completed")
        assert (rig.folder / "a.txt").read_text() == "x\n"
        await rig.read(session)
        assert await read_prompt_layers(rig, session) == []
        await rig.submit("write again", session)
        await rig.until(session, "turn.completed", count=2)
        facts = await rig.facts(session)
        started = [record.fact for record in facts if isinstance(record.fact, TurnStarted)]
        assert [(fact.max_iters, fact.definition_hash[0], fact.tools) for fact in started] == [
            (7, "1", (*FILES, "ReadProcess", "StopProcess", "propose_plan", "ask_person")),
            (9, "2", ("Read",)),
        ]
        assert [record.fact.code for record in facts if isinstance(record.fact, ToolRefused)] == ["policy_denied"]


async def test_a_changed_definition_applies_from_the_next_turn(tmp_path: Path) -> None:
    """Also within one process, and with several open runs."""
    agents = ChangingDefinitions(prompt="You write.", hash="1" * 64)
    async with open_runtime(tmp_path, calls(WRITE, says("Done."), WRITE, says("Done.")), agents) as rig:
        first = await rig.submit("write")
        action = await rig.until(first.session_id, "action.required")
        agents.change(prompt="You write better.", hash="2" * 64)
        second = await rig.submit("write")
        await rig.until(second.session_id, "action.required")
        assert [(await read_prompt_layers(rig, entry.session_id))[0][1] for entry in (first, second)] == [
            "You write.",
            "You write better.",
        ]
        await rig.do(RespondAction(session_id=first.session_id, action_id=action.scope.action, decision="approve"))
        await rig.until(first.session_id, "turn.completed")
        assert (rig.folder / "a.txt").read_text() == "x\n"
        await rig.read(first.session_id)
        assert await read_prompt_layers(rig, first.session_id) == []


async def test_a_run_with_an_unreadable_configuration_can_be_shown_and_stopped(tmp_path: Path) -> None:
    """CTL-08: also if its calls wait for others, which every decision evaluates."""
    both = [*WRITE, *use_tool("Write", file_path="b.txt", content="x\n")]
    async with open_runtime(tmp_path, calls(both)) as rig:
        turn = await rig.submit("write", mode="auto")
        await rig.until(turn.session_id, "action.required")
    async with open_runtime(tmp_path, calls()) as rig:
        session = turn.session_id
        await rig.runtime.dependencies.store.facts.trim(session, 1)
        assert len((await rig.read(session)).actions) == 1
        await rig.do(InterruptTurn(session_id=session))
        await rig.until(session, "turn.interrupted")
        assert (await rig.types(session))[-4:] == [
            "action.withdrawn",
            "tool.cancelled",
            "tool.cancelled",
            "turn.interrupted",
        ]
