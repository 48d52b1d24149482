"""Summaries of a sleeping agent's conversation."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from callboard.contracts.commands.context import CompactThread
from callboard.contracts.commands.turn import SubmitTurn
from callboard.contracts.facts.agent import AgentWoke
from callboard.contracts.facts.context import CompactionCompleted, CompactionFailed
from callboard.contracts.facts.model import ModelRequested
from callboard.contracts.facts.turn import TurnFailed, TurnSubmitted
from tests.agents.files import write_agents
from tests.runtime.prompts.test_conversations import read_newest_call
from tests.runtime.rigs.runtime_rig import MovableClock, RuntimeRig, open_runtime, says, use_tool
from tests.runtime.rigs.team import list_facts
from tests.runtime.team.test_background import HALF_HOUR, LEAD, start_watcher, watcher

SUMMARY = "It looked, and nothing was new."


@asynccontextmanager
async def open_with_watcher(
    place: Path, clock: MovableClock, window: int = 8000, **limits: Any
) -> AsyncIterator[RuntimeRig]:
    """Yield a runtime with a watcher that reads about 3,000 tokens per wake, on a model with a small
    window."""
    scenario = {
        "window": window,
        "agents": {"compaction": [says(SUMMARY)]},
        "match": [
            {"agent": "watcher", "text": "", "calls": [use_tool("Read", file_path="news.txt"), says("Nothing new.")]},
            {"agent": "lead", "text": "", "calls": [says("Yes.")]},
        ],
    }
    async with open_runtime(place, scenario, clock=clock, clock_interval=0.01, **limits) as rig:
        write_agents(rig.folder, lead=LEAD, watcher=watcher("{every: 30m}"))
        (rig.folder / "news.txt").write_text("nothing\n" * 1500)
        yield rig


async def wait_sleeping(rig: RuntimeRig, clock: MovableClock, session: str, *counts: int) -> None:
    """Wait until the agent has woken and slept again that often."""
    for count in counts:
        clock.move(HALF_HOUR)
        await rig.until(session, "agent.slept", count=count)


async def find_watcher_thread(rig: RuntimeRig, session: str) -> str:
    """Return the watcher's thread."""
    state = (await rig.runtime.sessions.get(session)).host.state
    return state.sleepers[0]


async def test_a_waking_agent_continues_from_its_summary_also_after_a_restart(tmp_path: Path) -> None:
    """UI-22, UI-25: each wake is one run that ends, and earlier messages are in the summary."""
    clock = MovableClock()
    async with open_with_watcher(tmp_path, clock) as rig:
        session = (await start_watcher(rig)).session_id
        await wait_sleeping(rig, clock, session, 2, 3, 4, 5)
        assert await list_facts(rig, session, CompactionFailed) == []
        assert await list_facts(rig, session, TurnFailed) == []
        compactions = await list_facts(rig, session, CompactionCompleted)
        assert len(compactions) > 1
        # Its schedule woke it; no person sent a message.
        assert [entry.said for entry in compactions] == [()] * len(compactions)
        watch = await find_watcher_thread(rig, session)
        there = await read_newest_call(rig, session, watch)
        assert SUMMARY in there[0]
        assert there[-1] == "Nothing new."
        requests = [fact.purpose for fact in await list_facts(rig, session, ModelRequested)]
        assert requests.count("answer") == 1 + 4 * 2
    async with open_with_watcher(tmp_path, clock) as rig:
        assert await read_newest_call(rig, session, watch) == there
        before = len(await list_facts(rig, session, CompactionCompleted))
        await wait_sleeping(rig, clock, session, 6, 7, 8)
        assert len(await list_facts(rig, session, CompactionCompleted)) > before
        assert await list_facts(rig, session, TurnFailed) == []
        submitted = await list_facts(rig, session, TurnSubmitted)
        assert [fact.source for fact in submitted] == ["person", *["schedule"] * 7]
        assert "it completed" in submitted[-1].input.text


async def test_a_persons_message_to_a_sleeping_agent_stays_beside_its_summary(tmp_path: Path) -> None:
    """UI-22, UI-25: scheduled wakes do not displace a person's messages."""
    clock = MovableClock()
    async with open_with_watcher(tmp_path, clock, idle_waiting=0.0) as rig:
        session = (await start_watcher(rig)).session_id
        watch = await find_watcher_thread(rig, session)
        await rig.do(SubmitTurn(text="Describe the harbour only.", session_id=session, thread_id=watch))
        await rig.until(session, "agent.slept", count=2)
        for count in (3, 4, 5):
            # The session is closed when its time comes.
            await rig.wait_closed()
            await wait_sleeping(rig, clock, session, count)
        assert await list_facts(rig, session, TurnFailed) == []
        there = await read_newest_call(rig, session, watch)
        assert [there[0], SUMMARY in there[1]] == ["Describe the harbour only.", True]


async def test_a_requested_summary_does_not_wake_the_agent(tmp_path: Path) -> None:
    """UI-22, UI-25: it is not an attempt of the agent's task, and its times stay the same."""
    clock = MovableClock()
    async with open_with_watcher(tmp_path, clock, window=100_000) as rig:
        session = (await start_watcher(rig)).session_id
        watch = await find_watcher_thread(rig, session)
        await wait_sleeping(rig, clock, session, 2, 3)
        before = await rig.types(session)
        begun = await rig.do(CompactThread(session_id=session, thread_id=watch))
        await rig.until(session, "turn.completed", 4)
        new = (await rig.types(session))[len(before) :]
        assert [entry for entry in new if entry.startswith(("agent.", "task."))] == []
        assert begun.thread_id == watch
        assert SUMMARY in (await read_newest_call(rig, session, watch))[0]
        await wait_sleeping(rig, clock, session, 4)
        assert [fact.reason for fact in await list_facts(rig, session, AgentWoke)] == ["schedule"] * 3
