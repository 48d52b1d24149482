"""Children with real model calls, tools, processes and store."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from callboard.agents.folder import FolderDefinitions
from callboard.contracts import casing
from callboard.contracts.commands.action import RespondAction
from callboard.contracts.commands.subagent import ChildResults
from callboard.contracts.commands.turn import InterruptTurn, ResumeThread
from callboard.contracts.facts.action import ActionRequired
from callboard.contracts.facts.model import ModelRequested
from callboard.contracts.facts.session import ThreadPaused
from callboard.contracts.facts.subagent import WorkerNotification
from callboard.contracts.facts.tool import ToolCompleted, ToolRefused
from callboard.contracts.facts.turn import TurnInterrupted
from tests.runtime.rigs.runtime_rig import RuntimeRig, open_runtime, says, use_tool
from tests.runtime.rigs.team import find_marked, list_facts, plays, wait_fact, wait_state, write_crew

WAIT = use_tool("wait_subagents")


def spawn(objective: str, **more: Any) -> list[dict[str, Any]]:
    return use_tool("spawn_subagent", agent="worker", objective=objective, **more)


async def test_a_lead_delegates_to_children_waits_and_answers(tmp_path: Path) -> None:
    """CTL-12, CTL-13: the second child waits for the slot of the first."""
    scenario = plays(
        ("lead", "go", [spawn("alpha"), spawn("beta"), WAIT, says("Both are there.")]),
        ("worker", "alpha", [says("A.")]),
        ("worker", "beta", [says("B.")]),
    )
    async with open_runtime(tmp_path, scenario, FolderDefinitions(), team_budget=1) as rig:
        write_crew(rig)
        turn = await rig.submit("go", mode="chat", permission_mode="full")
        await wait_fact(
            rig,
            turn.session_id,
            lambda record: record.header.type == "turn.completed" and record.scope.agent == "lead",
        )
        outputs = [fact.output.text for fact in await list_facts(rig, turn.session_id, ToolCompleted)]
        answer = casing.decode(outputs[-1], ChildResults)
        assert [(fact.agent_id, fact.status, fact.result) for fact in answer.ended] == [
            ("worker-1", "completed", "A."),
            ("worker-2", "completed", "B."),
        ]
        assert [fact.status for fact in await list_facts(rig, turn.session_id, WorkerNotification)] == ["completed"] * 2
        state = await wait_state(rig, turn.session_id, lambda state: not state.tasks)
        assert state.threads[state.lead].inbox == ()


async def test_cancelling_a_parent_stops_its_childs_running_command(tmp_path: Path) -> None:
    """MAR-10, CTL-08: both stop and stay cancelled, and no model is called afterwards."""
    mark = f"mark-{tmp_path.name}-{id(tmp_path)}"
    run = use_tool("Bash", command=f"touch began; sleep 600 # {mark}")
    scenario = plays(
        ("lead", "go", [spawn("alpha"), spawn("beta"), WAIT]),
        ("worker", "alpha", [run]),
        ("worker", "beta", [says("B.")]),
    )
    async with open_runtime(tmp_path, scenario, FolderDefinitions()) as rig:
        write_crew(rig)
        turn = await rig.submit("go", permission_mode="full")
        await rig.wait_file("began")
        await rig.until(turn.session_id, "subagent.completed")
        assert find_marked(mark)
        await rig.do(InterruptTurn(session_id=turn.session_id, cascade=True, reason="enough"))
        await wait_state(
            rig, turn.session_id, lambda state: all(thread.run is None for thread in state.threads.values())
        )
        request_count = len(await list_facts(rig, turn.session_id, ModelRequested))
        assert find_marked(mark) == []
        state = await wait_state(rig, turn.session_id, lambda state: not state.tasks)
        assert [thread.child.status for thread in state.threads.values() if thread.child] == ["cancelled", "completed"]
        assert {fact.cause for fact in await list_facts(rig, turn.session_id, TurnInterrupted)} == {
            "person",
            "cancelled",
        }
        assert len(await list_facts(rig, turn.session_id, ModelRequested)) == request_count


async def test_a_childs_approval_names_it_and_the_answer_reaches_it(tmp_path: Path) -> None:
    """UI-10, CTL-04; a session rule also applies to the next child."""
    write = use_tool("Write", file_path="a.txt", content="hello\n")
    scenario = plays(
        ("lead", "go", [spawn("alpha"), WAIT, spawn("beta"), WAIT, says("Done.")]),
        ("worker", "alpha", [write, says("A.")]),
        ("worker", "beta", [use_tool("Write", file_path="a.txt", content="again\n"), says("B.")]),
    )
    async with open_runtime(tmp_path, scenario, FolderDefinitions()) as rig:
        write_crew(rig)
        turn = await rig.submit("go")
        action = await rig.until(turn.session_id, "action.required")
        assert isinstance(action.fact, ActionRequired)
        assert (action.scope.agent, action.fact.action_type) == ("worker-1", "delegated_permission")
        assert not (rig.folder / "a.txt").exists()
        await rig.do(
            RespondAction(
                session_id=turn.session_id, action_id=action.scope.action, decision="approve", scope="session"
            )
        )
        await wait_fact(
            rig,
            turn.session_id,
            lambda record: record.header.type == "turn.completed" and record.scope.agent == "lead",
        )
        assert (rig.folder / "a.txt").read_text() == "again\n"
        assert len(await list_facts(rig, turn.session_id, ActionRequired)) == 1


async def test_a_tree_that_waits_for_a_person_can_be_closed_and_continues(tmp_path: Path) -> None:
    """Nothing runs while only a person is awaited, and everything continues after the answer."""
    write = use_tool("Write", file_path="a.txt", content="hello\n")
    scenario = plays(("lead", "go", [spawn("alpha"), WAIT, says("Done.")]), ("worker", "alpha", [write, says("A.")]))
    async with open_runtime(tmp_path, scenario, FolderDefinitions(), idle=0.0, idle_waiting=0.0) as rig:
        write_crew(rig)
        turn = await rig.submit("go")
        action = await rig.until(turn.session_id, "action.required")
        await rig.wait_closed()
        assert await list_facts(rig, turn.session_id, TurnInterrupted) == []
        await rig.do(RespondAction(session_id=turn.session_id, action_id=action.scope.action, decision="approve"))
        await wait_fact(
            rig,
            turn.session_id,
            lambda record: record.header.type == "turn.completed" and record.scope.agent == "lead",
        )
        assert (rig.folder / "a.txt").read_text() == "hello\n"


async def test_a_shutdown_stops_a_tree_and_one_command_resumes_it(tmp_path: Path) -> None:
    """CTL-06: queued children do not start at shutdown or at the next start."""
    scenario = plays(
        ("lead", "divide", [spawn("alpha"), spawn("beta"), WAIT]),
        ("worker", "alpha", [[{"text": "Looking."}, {"wait_for": "never"}]]),
        ("worker", "beta", [says("B.")]),
        ("lead", "<inbox>", [WAIT, says("All there.")]),
        ("worker", "interrupted because", [says("A.")]),
    )
    async with open_runtime(tmp_path, scenario, FolderDefinitions(), team_budget=1) as rig:
        write_crew(rig)
        turn = await rig.submit("divide")
        await rig.until(turn.session_id, "subagent.awaited")
    async with open_runtime(tmp_path, scenario, FolderDefinitions(), team_budget=1) as rig:
        state = await wait_state(rig, turn.session_id, lambda state: True)
        assert [thread.run for thread in state.threads.values()] == [None] * 3
        assert [thread.child.status for thread in state.threads.values() if thread.child] == ["waiting", "queued"]
        assert {fact.cause for fact in await list_facts(rig, turn.session_id, ThreadPaused)} == {"recovered"}
        await rig.do(ResumeThread(session_id=turn.session_id, tree=True))
        await wait_fact(
            rig,
            turn.session_id,
            lambda record: record.header.type == "turn.completed" and record.scope.agent == "lead",
        )
        state = await wait_state(rig, turn.session_id, lambda state: True)
        assert [thread.child.status for thread in state.threads.values() if thread.child] == ["completed"] * 2


async def list_denials(rig: RuntimeRig, session: str) -> list[tuple[str, str]]:
    await rig.until(session, "subagent.completed")
    return [(fact.code, fact.message) for fact in await list_facts(rig, session, ToolRefused)]


async def test_a_child_is_limited_to_its_globs_and_to_reading(tmp_path: Path) -> None:
    """MAR-05, MAR-03: by the gate, in every permission mode."""
    write = use_tool("Write", file_path="src/a.py", content="x")
    scenario = plays(
        ("lead", "globs", [spawn("alpha", work_globs=["docs/**"]), says("Going.")]),
        ("lead", "reads", [spawn("beta", isolation="read_only"), says("Going.")]),
        ("worker", "alpha", [write, use_tool("Write", file_path="docs/a.md", content="y"), says("A.")]),
        ("worker", "beta", [write, says("B.")]),
    )
    async with open_runtime(tmp_path, scenario, FolderDefinitions()) as rig:
        write_crew(rig)
        held = await rig.submit("globs", permission_mode="full")
        assert await list_denials(rig, held.session_id) == [
            ("path_denied", "src/a.py is outside of where this agent may write: docs/**.")
        ]
        assert (rig.folder / "docs" / "a.md").read_text() == "y"
        reads = await rig.submit("reads", permission_mode="full")
        assert await list_denials(rig, reads.session_id) == [
            ("policy_denied", "write changes files, and this agent only reads.")
        ]
        assert not (rig.folder / "src").exists()


async def test_a_subagents_spawn_is_refused_without_a_run(tmp_path: Path) -> None:
    """MAR-07, MAR-05"""
    scenario = plays(
        ("lead", "go", [spawn("alpha"), WAIT, says("Done.")]),
        ("worker", "alpha", [spawn("more"), says("Alone, then.")]),
    )
    async with open_runtime(tmp_path, scenario, FolderDefinitions()) as rig:
        write_crew(rig)
        turn = await rig.submit("go")
        await rig.until(turn.session_id, "subagent.completed")
        assert [fact.code for fact in await list_facts(rig, turn.session_id, ToolRefused)] == ["policy_denied"]
        assert (await rig.types(turn.session_id)).count("subagent.spawned") == 1
