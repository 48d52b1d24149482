"""Tasks: attempts, pauses and cancellations that reach real processes, and queries about them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from callboard.agents.folder import FolderDefinitions
from callboard.contracts.commands.base import COMMANDS
from callboard.contracts.commands.exchange.handoff import SendHandoff
from callboard.contracts.commands.task import (
    CancelTask,
    CreateTask,
    GetTask,
    ListTasks,
    PauseTask,
    ResumeTask,
    RetryTask,
    StartTask,
)
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.task import TaskCancelled, TaskFailed
from callboard.contracts.facts.turn import TurnSubmitted
from callboard.contracts.scope import PERSON
from callboard.contracts.vocabulary import SUBAGENT_CONTROLS
from tests.agents.files import definition_file
from tests.runtime.rigs.runtime_rig import PATIENCE, RuntimeRig, open_runtime, says, use_tool
from tests.runtime.rigs.team import find_marked, list_facts, plays, wait_state, write_crew

CLERK = definition_file("name: clerk\ntools: ['*']\npolicy: [Delegate]\nedges: [{to: critic, confirm: true}]")


def sleep_call(mark: str) -> list[dict[str, Any]]:
    return use_tool("Bash", command=f"touch began; sleep 600 # {mark}")


async def start_session(rig: RuntimeRig) -> str:
    """Return a session whose lead has answered, with an open task."""
    write_crew(rig, clerk=CLERK)
    turn = await rig.submit("hello", permission_mode="full")
    await rig.until(turn.session_id, "turn.completed")
    await rig.do(CreateTask(session_id=turn.session_id, task_id="tsk_a", title="alpha"))
    return turn.session_id


async def wait_no_process(mark: str) -> None:
    async with asyncio.timeout(PATIENCE):
        while find_marked(mark):  # noqa: ASYNC110 - the process list has no events
            await asyncio.sleep(0.02)


async def test_a_retry_is_a_new_attempt_and_the_failed_one_stays_readable(tmp_path: Path) -> None:
    """CTL-07: in the row and in the snapshot, also after a restart."""
    failing = [[{"fail": {"code": "model_refused_request", "message": "no"}}]]
    scenario = plays(
        ("lead", "hello", [says("Hello.")]), ("worker", "attempt 2", [says("Now.")]), ("worker", "alpha", failing)
    )
    async with open_runtime(tmp_path, scenario, FolderDefinitions()) as rig:
        session = await start_session(rig)
        await rig.do(StartTask(session_id=session, task_id="tsk_a", assignee="worker"))
        await rig.until(session, "task.failed")
        (failed,) = await list_facts(rig, session, TaskFailed)
        assert failed.code == "model_refused_request"
        started = await rig.do(RetryTask(session_id=session, task_id="tsk_a", reason="once more"))
        assert started.status == "running"
        await rig.until(session, "task.completed")
        first = await rig.do(GetTask(session_id=session, task_id="tsk_a"))
        assert [(attempt.number, attempt.status) for attempt in first.task.attempts] == [
            (1, "failed"),
            (2, "completed"),
        ]
        assert first.task.status == "done"
        assert [entry["subagentId"] for entry in first.snapshot["subagents"]] == ["worker-1"]
        assert [entry["runId"] for entry in first.snapshot["attempts"]] == [
            attempt.run_id for attempt in first.task.attempts
        ]
        assert first.snapshot["through"] == first.sequence
    async with open_runtime(tmp_path, scenario, FolderDefinitions()) as rig:
        again = await rig.do(GetTask(session_id=session, task_id="tsk_a"))
        assert again.task == first.task
        listed = await rig.do(ListTasks(session_id=session))
        assert [task.task_id for task in listed.tasks] == ["tsk_a"]
        assert (await rig.do(ListTasks(session_id=session, status="running"))).tasks == ()
        with pytest.raises(Refusal) as refused:
            await rig.do(GetTask(session_id=session, task_id="tsk_none"))
        assert refused.value.code == "unknown_task"


async def test_a_pause_stops_a_childs_command_and_resuming_continues_it(tmp_path: Path) -> None:
    mark = f"mark-{tmp_path.name}-{id(tmp_path)}"
    scenario = plays(
        ("lead", "hello", [says("Hello.")]),
        ("worker", "You were paused", [says("Done after all.")]),
        ("worker", "alpha", [sleep_call(mark), says("never")]),
    )
    async with open_runtime(tmp_path, scenario, FolderDefinitions()) as rig:
        session = await start_session(rig)
        await rig.do(StartTask(session_id=session, task_id="tsk_a", assignee="worker"))
        await rig.wait_file("began")
        await rig.do(PauseTask(session_id=session, task_id="tsk_a", reason="lunch"))
        await rig.until(session, "worker.notification")
        await wait_no_process(mark)
        (row,) = (await rig.do(ListTasks(session_id=session))).tasks
        assert (row.status, row.paused) == ("blocked", True)

        await rig.do(ResumeTask(session_id=session, task_id="tsk_a"))
        await rig.until(session, "task.completed")
        assert [fact.input.text[:15] for fact in await list_facts(rig, session, TurnSubmitted)][-1] == "You were paused"
        (row,) = (await rig.do(ListTasks(session_id=session))).tasks
        assert (row.status, row.paused, [attempt.number for attempt in row.attempts]) == ("done", False, [1])


async def test_a_cancellation_ends_the_processes_of_children(tmp_path: Path) -> None:
    """CTL-08: the intent comes first, nothing keeps running, and no model is called afterwards."""
    mark = f"mark-{tmp_path.name}-{id(tmp_path)}"
    spawns = use_tool("spawn_subagent", agent="worker", objective="a part")
    scenario = plays(
        ("lead", "hello", [says("Hello.")]),
        ("lead", "alpha", [spawns, use_tool("wait_subagents"), says("never")]),
        ("worker", "a part", [sleep_call(mark), says("never")]),
    )
    async with open_runtime(tmp_path, scenario, FolderDefinitions()) as rig:
        session = await start_session(rig)
        await rig.do(StartTask(session_id=session, task_id="tsk_a"))
        await rig.wait_file("began")
        await wait_state(rig, session, lambda state: any(call.awaits for call in _calls(state)))
        changed = await rig.do(CancelTask(session_id=session, task_id="tsk_a", reason="enough"))
        state = await wait_state(rig, session, lambda state: not state.tasks)
        await wait_no_process(mark)
        records = await rig.facts(session)
        after = [record.header.type for record in records if record.sequence > changed.sequence]
        assert "model.requested" not in after
        assert {fact.reason for fact in await list_facts(rig, session, TaskCancelled)} == {"enough"}
        assert all(thread.run is None for thread in state.threads.values())


def _calls(state: Any) -> list[Any]:
    return [call for thread in state.threads.values() if thread.run is not None for call in thread.run.calls]


async def test_every_team_control_is_a_fact_with_actor_and_reason(tmp_path: Path) -> None:
    """SUB-06: each name of the Subagents specification's control table is one command, and its fact
    has the actor and reason."""
    mark = f"mark-{tmp_path.name}-{id(tmp_path)}"
    scenario = plays(
        ("lead", "hello", [says("Hello.")]),
        ("lead", "alpha", [use_tool("Write", file_path="a.md", content="a\n"), says("Written.")]),
        ("worker", "beta", [sleep_call(mark), says("never")]),
    )
    async with open_runtime(tmp_path, scenario, FolderDefinitions()) as rig:
        write_crew(rig, clerk=CLERK)
        turn = await rig.submit("hello", permission_mode="ask")
        session = turn.session_id
        await rig.until(session, "turn.completed")
        for name in ("tsk_a", "tsk_b"):
            await rig.do(CreateTask(session_id=session, task_id=name, title="alpha"))
        controls: dict[str, str] = {}

        async def control(name: str, **fields: Any) -> Any:
            before = (await rig.runtime.dependencies.store.facts.read_head(session)).sequence
            kind = COMMANDS[SUBAGENT_CONTROLS[name]].command
            answer = await rig.do(kind(**{"session_id": session, "reason": f"because of {name}", **fields}))
            whole = await rig.facts(session)
            matching = [
                record
                for record in whole
                if record.sequence > before and getattr(record.fact, "reason", "") == f"because of {name}"
            ]
            assert matching, f"{name} left no fact with its reason"
            assert matching[0].header.actor == PERSON
            assert matching[0].header.command_id
            controls[name] = matching[0].header.type
            return answer

        await control("task/start", task_id="tsk_a")
        action = await rig.until(session, "action.required")
        await control("action/respond", action_id=action.scope.action, decision="reject")
        await rig.until(session, "task.completed")
        await control("task/pause", task_id="tsk_b")
        await control("task/resume", task_id="tsk_b")
        await control("task/cancel", task_id="tsk_b")
        child = await control("subagent/spawn", agent="worker", objective="beta")
        await control("subagent/cancel", agent=child.agent_id)
        await rig.do(SendHandoff(session_id=session, to="clerk", message="for you"))
        clerk = await wait_state(
            rig, session, lambda state: any(thread.agent == "clerk" for thread in state.threads.values())
        )
        thread = next(thread.thread for thread in clerk.threads.values() if thread.agent == "clerk")
        sent = await rig.do(SendHandoff(session_id=session, thread_id=thread, to="critic", message="and for you"))
        await control("handoff/respond", handoff_id=sent.handoff_id, decision="reject")
        await control("evidence/export")
        assert controls == {
            "task/start": "task.started",
            "action/respond": "action.resolved",
            "task/pause": "task.paused",
            "task/resume": "task.resumed",
            "task/cancel": "task.cancel.requested",
            "subagent/spawn": "subagent.spawned",
            "subagent/cancel": "turn.interrupt.requested",
            "handoff/respond": "handoff.rejected",
            "evidence/export": "evidence.exported",
        }
        assert set(controls) == set(SUBAGENT_CONTROLS)
        await wait_state(rig, session, lambda state: all(thread.run is None for thread in state.threads.values()))
    assert find_marked(mark) == []
