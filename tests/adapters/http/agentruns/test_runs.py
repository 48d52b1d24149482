"""Records, contexts and cancellation of runs."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from callboard.contracts.rows.run import AgentRunRecord
from tests.adapters.http.agentruns.crew import check_refusal, crew, release, send_read, send_write, wait_for_fact
from tests.adapters.http.rigs.server import SOON, Board


async def runs_of(board: Board, session: str) -> list[dict[str, Any]]:
    answer = await send_read(board, "/api/agent-runs", project_root=str(board.folder), session_id=session)
    return answer["runs"]


async def at_rest(board: Board, session: str, count: int) -> list[dict[str, Any]]:
    """Return the session's runs after the given number has ended."""
    ends = ("turn.completed", "turn.failed", "turn.interrupted")
    async with asyncio.timeout(SOON):
        async for records in board.store.facts.subscribe(session):
            count -= sum(record.header.type in ends for record in records)
            if count <= 0:
                break
    return await runs_of(board, session)


async def test_every_execution_leaves_a_record_with_ten_fields(team: Board):
    """MAR-16: the lead's and each child's, with parent and end."""
    session = (await send_write(team, "/api/chat", message="team"))["session_id"]
    await wait_for_fact(team, session, "subagent.completed")
    running = {run["agent_id"]: run for run in await runs_of(team, session)}
    release(team)
    runs = {run["agent_id"]: run for run in await at_rest(team, session, 3)}

    assert all(tuple(run) == AgentRunRecord.__struct_fields__ for run in runs.values())
    assert [running["lead"]["status"], running["lead"]["ended_at"]] == ["running", None]
    assert {name: (run["agent_kind"], run["status"]) for name, run in runs.items()} == {
        "lead": ("main", "completed"),
        "worker-1": ("subagent", "completed"),
        "worker-2": ("subagent", "completed"),
    }
    lead = runs["lead"]["run_id"]
    assert {run["parent_run_id"] for run in runs.values()} == {None, lead}
    assert {(run["repo_path"], run["session_id"]) for run in runs.values()} == {(str(team.folder), session)}
    assert all(run["started_at"] <= run["ended_at"] for run in runs.values())
    children = await send_read(team, "/api/agent-children", run_id=lead)
    assert children == {"run_id": lead, "children": [runs["worker-1"], runs["worker-2"]]}
    assert (await send_read(team, "/api/agent-children", run_id=runs["worker-1"]["run_id"]))["children"] == []


async def test_a_runs_context_holds_its_own_run_only(team: Board):
    """MAR-15: complete, by page, and compact."""
    first = await send_write(team, "/api/chat", message="write", permission_mode="full")
    session = first["session_id"]
    await at_rest(team, session, 1)
    await send_write(team, "/api/chat", message="again", session_id=session)
    former, latter = await at_rest(team, session, 2)

    raw = await send_read(team, "/api/agent-context", run_id=former["run_id"], view="raw")
    paged, after = [], 0
    while after is not None:
        page = await send_read(team, "/api/agent-context", run_id=former["run_id"], view="raw", after=after, limit=4)
        paged += page["events"]
        after = page["next"]
    summary = await send_read(team, "/api/agent-context", run_id=former["run_id"], view="summary")
    second = await send_read(team, "/api/agent-context", run_id=latter["run_id"])

    assert raw["run"] == former
    assert paged == raw["events"]
    assert {event.get("runId", former["run_id"]) for event in raw["events"]} == {former["run_id"]}
    assert {event["turnId"] for event in raw["events"]} == {first["turn_id"]}
    assert [raw["events"][0]["type"], raw["events"][-1]["type"]] == ["turn.submitted", "turn.completed"]
    every = await team.store.facts.read(session)
    assert len(raw["events"]) == sum(record.scope.turn == first["turn_id"] for record in every)
    assert [(message["role"], message["text"]) for message in summary["messages"]] == [
        ("user", "write"),
        ("assistant", "Written."),
    ]
    assert [(tool["tool"], tool["status"]) for tool in summary["tools"]] == [("Write", "completed")]
    assert summary["artifacts"] == [{"path": "notes.txt", "kind": "created", "added": 2}]
    assert second["view"] == "summary"
    assert [message["text"] for message in second["messages"]] == ["again", "The answer."]


async def test_cancelling_a_run_cancels_its_children(team: Board):
    """MAR-10: ended runs stay unchanged."""
    session = (await send_write(team, "/api/chat", message="team"))["session_id"]
    await wait_for_fact(team, session, "subagent.awaited")
    await wait_for_fact(team, session, "subagent.completed")
    lead = next(run for run in await runs_of(team, session) if run["agent_id"] == "lead")

    answer = await send_write(team, "/api/agent-cancel", run_id=lead["run_id"])
    runs = {run["agent_id"]: run for run in await at_rest(team, session, 3)}
    again = await team.http.post("/api/agent-cancel", json={"run_id": lead["run_id"]})

    assert answer["cancelling"] is True
    assert {name: (run["status"], run["detail"]) for name, run in runs.items()} == {
        "lead": ("cancelled", "person"),
        "worker-1": ("completed", None),
        "worker-2": ("cancelled", "cancelled"),
    }
    assert (await check_refusal(again, 409))["code"] == "nothing_running"
    assert (await check_refusal(again, 409))["field"] == "run_id"


async def test_cancelling_a_childs_run_leaves_its_parent_running(team: Board):
    session = (await send_write(team, "/api/chat", message="team"))["session_id"]
    await wait_for_fact(team, session, "subagent.awaited")
    slow = next(run for run in await runs_of(team, session) if run["agent_id"] == "worker-2")

    await send_write(team, "/api/agent-cancel", run_id=slow["run_id"])
    runs = {run["agent_id"]: run["status"] for run in await at_rest(team, session, 3)}

    assert runs == {"lead": "completed", "worker-1": "completed", "worker-2": "cancelled"}


async def test_an_unknown_run_is_refused_by_name(team: Board):
    """SAFE-05"""
    for path in ("/api/agent-children", "/api/agent-context"):
        for name in ("run_0000000000000000000000", "nothing"):
            problem = await check_refusal(await team.http.get(path, params={"run_id": name}), 404)
            assert (problem["code"], problem["field"]) == ("unknown_run", "run_id")
    elsewhere = await team.http.get("/api/agent-runs", params={"project_root": "/"})
    assert (await check_refusal(elsewhere, 404))["code"] == "unknown_workspace"
    session = await team.http.get("/api/agent-runs", params={"session_id": "ses_nobody"})
    assert (await check_refusal(session, 404))["field"] == "session_id"


async def test_records_are_the_same_after_a_restart(tmp_path: Path):
    """MAR-16"""
    async with crew(tmp_path / "work") as board:
        session = (await send_write(board, "/api/chat", message="hello"))["session_id"]
        before = await at_rest(board, session, 1)
        pending = await send_write(board, "/api/chat", message="hold", session_id=session)
        await wait_for_fact(board, session, "model.requested", 2)
    async with crew(tmp_path / "work") as board:
        first, second = await runs_of(board, session)

        assert [first] == before
        assert (second["status"], second["detail"]) == ("failed", "shutdown")
        context = await send_read(board, "/api/agent-context", run_id=second["run_id"])
        assert context["run"] == second
        assert context["messages"][0]["text"] == "hold"
        assert pending["session_id"] == second["session_id"]
