"""Agents that sleep and wake, with a clock that a test moves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from callboard.contracts.commands.agent import AddAgent
from callboard.contracts.commands.session import DeleteSession, ListSessions, UpdateSession
from callboard.contracts.commands.task import CancelTask
from callboard.contracts.commands.turn import SubmitTurn, TurnAccepted
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.agent import AgentSlept, AgentWoke
from callboard.contracts.facts.session import ThreadPaused
from callboard.contracts.facts.task import TaskStarted
from callboard.contracts.facts.turn import TurnInterrupted, TurnStarted, TurnSubmitted
from callboard.contracts.facts.workspace import SessionScheduled
from tests.agents.files import definition_file, write_agents
from tests.runtime.rigs.runtime_rig import PATIENCE, MovableClock, RuntimeRig, open_runtime, says
from tests.runtime.rigs.team import list_facts
from tests.runtime.sessions.test_recovery import copy_as_killed

LEAD = definition_file("name: lead\nlead: true\ntools: ['*']\npolicy: [Patch]", "You lead.")
HALF_HOUR = 1800


def watcher(schedule: str) -> str:
    """Return the file of a sleeping agent."""
    return definition_file(f"name: watcher\nkind: background\ntools: [Read]\nschedule: {schedule}", "You watch.")


@asynccontextmanager
async def open_with_watcher(
    place: Path, clock: MovableClock, schedule: str = "{every: 30m}", calls: list[Any] | None = None, **limits: Any
) -> AsyncIterator[RuntimeRig]:
    """Yield a runtime with a watcher that can join. Its timer reads the clock continuously."""
    scenario = {
        "match": [
            {"agent": "watcher", "text": "", "calls": calls if calls is not None else [says("Nothing new.")] * 20},
            {"agent": "lead", "text": "", "calls": [says("Yes.")] * 20},
        ]
    }
    async with open_runtime(place, scenario, clock=clock, clock_interval=0.01, **limits) as rig:
        write_agents(rig.folder, lead=LEAD, watcher=watcher(schedule))
        yield rig


async def start_watcher(rig: RuntimeRig) -> TurnAccepted:
    """Return a session with an idle lead and a sleeping watcher."""
    turn = await rig.submit("Hello.", mode="chat")
    await rig.until(turn.session_id, "turn.completed")
    added = await rig.do(AddAgent(session_id=turn.session_id, agent="watcher"))
    assert added.added
    return turn


async def wait_scheduled(rig: RuntimeRig, *expected: bool) -> None:
    """Wait until the workspace has these records, in order."""
    async with asyncio.timeout(PATIENCE):
        async for records in rig.runtime.dependencies.store.facts.subscribe(rig.workspace, after=0):
            del records
            every = await rig.runtime.dependencies.store.facts.read(rig.workspace, limit=1000)
            if (
                tuple(record.fact.scheduled for record in every if isinstance(record.fact, SessionScheduled))
                == expected
            ):
                return


async def list_wakes(rig: RuntimeRig, session: str) -> list[AgentWoke]:
    """Return the facts of its wakes, in order."""
    return [record.fact for record in await rig.facts(session) if isinstance(record.fact, AgentWoke)]


async def test_an_agent_wakes_at_its_time_and_sleeps_again(tmp_path: Path) -> None:
    """UI-22"""
    clock = MovableClock()
    async with open_with_watcher(tmp_path, clock) as rig:
        session = (await start_watcher(rig)).session_id
        for count in (1, 2, 3):
            clock.move(HALF_HOUR)
            await rig.until(session, "agent.slept", count=count + 1)

        attempts = [record.scope.attempt for record in await rig.facts(session) if isinstance(record.fact, TaskStarted)]
        assert attempts == [1, 2, 3]
        assert [fact.reason for fact in await list_wakes(rig, session)] == ["schedule"] * 3
        submitted = await list_facts(rig, session, TurnSubmitted)
        assert [fact.source for fact in submitted] == ["person", "schedule", "schedule", "schedule"]
        assert "it completed" in submitted[-1].input.text


async def test_an_agent_wakes_in_a_closed_session(tmp_path: Path) -> None:
    """A session that only sleeps stays out of memory."""
    clock = MovableClock()
    async with open_with_watcher(tmp_path, clock, idle_waiting=0.0) as rig:
        session = (await start_watcher(rig)).session_id
        await wait_scheduled(rig, True)
        await rig.wait_closed()
        clock.move(HALF_HOUR)
        await rig.until(session, "agent.slept", count=2)
        await rig.wait_closed()
        clock.move(HALF_HOUR)
        await rig.until(session, "agent.slept", count=3)


async def test_a_time_that_passed_during_downtime_wakes_the_agent_once(tmp_path: Path) -> None:
    """UI-22: a starting process opens sessions with sleeping agents."""
    clock = MovableClock()
    async with open_with_watcher(tmp_path, clock) as rig:
        session = (await start_watcher(rig)).session_id
        await wait_scheduled(rig, True)
        (slept,) = await list_facts(rig, session, AgentSlept)
    clock.move(10 * HALF_HOUR)
    async with open_with_watcher(tmp_path, clock) as rig:
        await rig.until(session, "agent.slept", count=2)
        (woke,) = await list_facts(rig, session, AgentWoke)
        assert woke == AgentWoke(reason="schedule", due=slept.wake_at)
        assert "you could not be woken earlier" in (await list_facts(rig, session, TurnSubmitted))[-1].input.text
        again = (await list_facts(rig, session, AgentSlept))[-1]
        assert again.reason == "ran"
        assert again.wake_at > clock.now()


async def test_a_kill_right_after_a_wake_leaves_an_ended_attempt(tmp_path: Path) -> None:
    """CTL-06, MAR-16: the wake, its turn and its run are one transaction. The run is interrupted,
    and the next time comes."""
    clock = MovableClock()
    async with open_with_watcher(tmp_path, clock, calls=[[{"wait_for": "never"}]]) as rig:
        session = (await start_watcher(rig)).session_id
        clock.move(HALF_HOUR)
        await rig.until(session, "model.requested", count=2)
        await wait_scheduled(rig, True)
        there = copy_as_killed(rig, tmp_path)
        async with open_with_watcher(there, clock) as after:
            slept = (await after.until(session, "agent.slept", count=2)).fact
            assert isinstance(slept, AgentSlept)
            (interrupted,) = await list_facts(after, session, TurnInterrupted)
            assert interrupted.cause == "crash"
            assert slept.wake_at > clock.now()
            assert len(await list_wakes(after, session)) == 1
            clock.move(HALF_HOUR)
            await after.until(session, "agent.slept", count=3)
            assert len(await list_facts(after, session, TaskStarted)) == 2


async def test_a_shutdown_ends_the_run_and_the_agent_sleeps_on(tmp_path: Path) -> None:
    clock = MovableClock()
    async with open_with_watcher(tmp_path, clock, calls=[[{"wait_for": "never"}]]) as rig:
        session = (await start_watcher(rig)).session_id
        clock.move(HALF_HOUR)
        await rig.until(session, "model.requested", count=2)
    async with open_with_watcher(tmp_path, clock) as rig:
        types = await rig.types(session)
        assert types[-2:] == ["turn.interrupted", "agent.slept"]
        assert not await list_facts(rig, session, ThreadPaused)
        clock.move(HALF_HOUR)
        await rig.until(session, "agent.slept", count=3)


async def test_two_wakes_never_overlap(tmp_path: Path) -> None:
    """Wake times pass while the agent runs."""
    clock = MovableClock()
    playing: list[Any] = [[{"wait_for": "go"}, {"text": "Done."}], *([says("Done.")] * 5)]
    async with open_with_watcher(tmp_path, clock, schedule='{cron: "* * * * *"}', calls=playing) as rig:
        session = (await start_watcher(rig)).session_id
        clock.move(60)
        await rig.until(session, "agent.woke")
        clock.move(600)
        await rig.submit("Are you there?", session)
        await rig.until(session, "turn.completed", count=2)
        running = [record for record in (await rig.facts(session)) if isinstance(record.fact, TurnStarted)]
        assert [record.scope.agent for record in running] == ["lead", "watcher", "lead"]


async def test_a_deleted_session_never_wakes(tmp_path: Path) -> None:
    clock = MovableClock()
    async with open_with_watcher(tmp_path, clock) as rig:
        session = (await start_watcher(rig)).session_id
        await wait_scheduled(rig, True)
        await rig.do(DeleteSession(session_id=session, confirm=session))
        clock.move(HALF_HOUR)
        other = (await start_watcher(rig)).session_id
        clock.move(HALF_HOUR)
        await rig.until(other, "agent.woke")
        await rig.wait_deleted(session)
        assert [
            entry for entry in (await rig.do(ListSessions(workspace_id=rig.workspace))).sessions if entry.key == session
        ] == []


async def test_an_archived_session_sleeps_until_unarchived(tmp_path: Path) -> None:
    """A person archived it, so nothing starts in it. After that, the passed time wakes the agent
    once."""
    clock = MovableClock()
    async with open_with_watcher(tmp_path, clock) as rig:
        session = (await start_watcher(rig)).session_id
        await wait_scheduled(rig, True)
        await rig.do(UpdateSession(session_id=session, archived=True))
        clock.move(HALF_HOUR)
        other = (await start_watcher(rig)).session_id
        clock.move(HALF_HOUR)
        await rig.until(other, "agent.slept", count=2)
        assert await list_wakes(rig, session) == []
        with pytest.raises(Refusal) as refused:
            await rig.do(AddAgent(session_id=session, agent="lead"))
        assert refused.value.code == "session_archived"

        await rig.do(UpdateSession(session_id=session, archived=False))
        await rig.until(session, "agent.slept", count=2)
        assert len(await list_wakes(rig, session)) == 1


async def test_a_fact_wakes_the_agent_but_its_own_facts_do_not(tmp_path: Path) -> None:
    """UI-22"""
    clock = MovableClock()
    async with open_with_watcher(tmp_path, clock, schedule="{wake_on: [turn.completed]}") as rig:
        session = (await start_watcher(rig)).session_id
        await rig.submit("More.", session)
        await rig.until(session, "agent.slept", count=2)
        (woke,) = await list_wakes(rig, session)
        ended = [record for record in await rig.facts(session) if record.header.type == "turn.completed"]
        assert woke == AgentWoke(reason="fact", cause=ended[1].event_id)
        assert [record.scope.agent for record in ended] == ["lead", "lead", "watcher"]
        assert (await rig.types(session))[-1] == "agent.slept"


async def test_a_persons_message_wakes_the_agent(tmp_path: Path) -> None:
    """UI-22"""
    clock = MovableClock()
    async with open_with_watcher(tmp_path, clock) as rig:
        turn = await start_watcher(rig)
        thread = next(
            record.scope.thread for record in await rig.facts(turn.session_id) if record.scope.agent == "watcher"
        )
        await rig.do(SubmitTurn(session_id=turn.session_id, thread_id=thread, text="What is new?"))
        await rig.until(turn.session_id, "agent.slept", count=2)
        assert await list_facts(rig, turn.session_id, AgentWoke) == [AgentWoke(reason="person")]


async def test_a_session_without_sleeping_agents_is_not_opened_at_start(tmp_path: Path) -> None:
    """UI-22: the end of its task ends its wakes, also for the next process."""
    clock = MovableClock()
    async with open_with_watcher(tmp_path, clock) as rig:
        session = (await start_watcher(rig)).session_id
        await wait_scheduled(rig, True)
        task = next(record.scope.task for record in await rig.facts(session) if isinstance(record.fact, AgentSlept))
        await rig.do(CancelTask(session_id=session, task_id=task))
        await wait_scheduled(rig, True, False)
        clock.move(HALF_HOUR)
        other = (await start_watcher(rig)).session_id
        await wait_scheduled(rig, True, False, True)
    clock.move(HALF_HOUR)
    async with open_with_watcher(tmp_path, clock) as rig:
        await rig.until(other, "agent.woke")
        assert await list_wakes(rig, session) == []
