"""Messages, settings and files of the Multi-agent runtime specification, and refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from callboard.contracts.facts.turn import TurnSubmitted
from tests.adapters.http.agentruns.crew import (
    check_refusal,
    read_events,
    release,
    runs_ended,
    send_read,
    send_write,
    wait_for_fact,
)
from tests.adapters.http.rigs.server import TOKEN, Board

READS = {
    "/api/agent-runs": {},
    "/api/agent-children": {"run_id": "run_a"},
    "/api/agent-context": {"run_id": "run_a"},
    "/api/events": {},
    "/api/settings": {},
    "/api/workspace/tree": {},
}
WRITES = ("/api/chat", "/api/agent-cancel", "/api/settings", "/api/runs/ses_a/nodes/lead/interrupt")


async def test_a_busy_agent_queues_messages_and_runs_them_in_order(team: Board):
    """MAR-13"""
    first = await send_write(team, "/api/chat", message="hold")
    session = first["session_id"]
    second = await send_write(team, "/api/chat", message="two", session_id=session)
    third = await send_write(team, "/api/chat", message="three", session_id=session, agent_id="lead")
    release(team)
    events = await read_events(team.http, runs_ended(3), 0)

    assert [turn["status"] for turn in (first, second, third)] == ["started", "queued", "queued"]
    assert {(turn["agent_id"], turn["thread_id"]) for turn in (first, second, third)} == {("lead", first["thread_id"])}
    turns = [turn["turn_id"] for turn in (first, second, third)]
    began = [event["turn_id"] for event in events if event["data"].get("change") == "run_started"]
    added = [(event["turn_id"], event["data"]["position"]) for event in events if event["type"] == "QueueUpdated"]
    assert began == turns
    assert added == [(turns[1], 1), (turns[2], 2)]


async def test_a_message_with_one_key_is_accepted_once(team: Board):
    """CTL-01"""
    body, headers = {"message": "hello"}, {"Idempotency-Key": "once"}
    answers = [await team.http.post("/api/chat", json=body, headers=headers) for _ in range(2)]

    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[0].json()["turn_id"] == answers[1].json()["turn_id"]
    assert len(await team.store.facts.list_streams("ses_")) == 1


async def test_a_message_without_a_permission_mode_keeps_the_mode_of_the_last_turn(team: Board):
    session = (await send_write(team, "/api/chat", message="hello", permission_mode="edits"))["session_id"]
    await send_write(team, "/api/chat", message="again", session_id=session)
    await send_write(team, "/api/chat", message="anew")
    modes: list[list[str]] = []
    for stream in sorted(await team.store.facts.list_streams("ses_")):
        facts = (record.fact for record in await team.store.facts.read(stream))
        modes.append([fact.permission_mode for fact in facts if isinstance(fact, TurnSubmitted)])

    assert modes == [["edits", "edits"], ["ask"]]


@pytest.mark.parametrize(
    ("body", "status", "code", "field"),
    [
        ({}, 400, "invalid_input", "message"),
        ({"message": ""}, 400, "invalid_input", "message"),
        ({"message": " "}, 400, "invalid_input", "message"),
        ({"message": "a", "mode": "loud"}, 400, "invalid_input", "mode"),
        ({"message": "a", "more": 1}, 400, "invalid_input", "more"),
        ({"message": "a", "agent_id": "lead"}, 400, "invalid_input", "agent_id"),
        ({"message": "a", "session_id": "ses_nobody"}, 404, "unknown_session", "session_id"),
        ({"message": "a", "project_root": "/nowhere"}, 404, "unknown_workspace", "project_root"),
    ],
)
async def test_an_invalid_message_is_refused_by_its_field(
    team: Board, body: dict[str, Any], status: int, code: str, field: str
):
    """SAFE-05: nothing is written."""
    before = await team.heads()
    problem = await check_refusal(await team.http.post("/api/chat", json=body), status)

    assert (problem["code"], problem["field"]) == (code, field)
    assert await team.heads() == before


async def test_an_interrupt_keeps_the_text_and_the_next_message_runs(team: Board):
    """COM-10"""
    first = await send_write(team, "/api/chat", message="hold")
    session = first["session_id"]
    await send_write(team, "/api/chat", message="next", session_id=session)
    await read_events(team.http, lambda events: events[-1]["type"] == "Token")

    changed = await send_write(team, f"/api/runs/{session}/nodes/lead/interrupt")
    events = await read_events(team.http, runs_ended(2), 0)

    assert {name: changed[name] for name in ("runId", "nodeId", "threadId")} == {
        "runId": session,
        "nodeId": "lead",
        "threadId": first["thread_id"],
    }
    messages = [
        event["data"] for event in events if event["type"] == "Message" and event["data"]["role"] == "assistant"
    ]
    assert [(message["text"], message["state"]) for message in messages] == [
        ("Half of it. ", "interrupted"),
        ("The answer.", "final"),
    ]
    outcomes = [event["data"]["status"] for event in events if event["type"] == "Outcome"]
    assert outcomes == ["cancelled", "completed"]


async def test_interrupting_an_idle_agent_is_a_clear_error_and_changes_nothing(team: Board):
    """COM-11"""
    session = (await send_write(team, "/api/chat", message="hello"))["session_id"]
    await team.idle(session)
    before = await team.heads()
    idle = await team.http.post(f"/api/runs/{session}/nodes/lead/interrupt", json={})
    unknown = await team.http.post(f"/api/runs/{session}/nodes/ghost/interrupt", json={})
    nowhere = await team.http.post("/api/runs/ses_nowhere/nodes/lead/interrupt", json={})

    assert (await check_refusal(idle, 409))["code"] == "nothing_running"
    assert (await check_refusal(unknown, 404))["code"] == "unknown_agent"
    assert (await check_refusal(nowhere, 404))["code"] == "unknown_session"
    assert await team.heads() == before


async def test_the_effective_settings_are_returned_with_the_unchangeable_ones(team: Board):
    settings = await send_read(team, "/api/settings", project_root=str(team.folder))

    assert settings["modes"] == ["chat", "auto"]
    assert settings["agent"] == {"name": "lead", "max_iters": 50, "permission_mode": None}
    assert (settings["model"]["provider"], settings["model"]["name"]) == ("scripted", "crew")
    assert settings["budgets"] == {"team": 8, "provider": 16}
    before = await team.heads()
    for body, status, field in (
        ({"model": "other"}, 422, "model"),
        ({"project_root": str(team.folder), "budgets": {"team": 1}}, 422, "budgets"),
        ({"colour": "blue"}, 400, "colour"),
    ):
        problem = await check_refusal(await team.http.post("/api/settings", json=body), status)
        assert problem["field"] == field
        assert problem["hint"]
    assert (await check_refusal(await team.http.post("/api/settings", json={}), 400))["code"] == "invalid_input"
    assert (await team.heads(), await send_read(team, "/api/settings")) == (before, settings)


def names(entries: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the entries by name or, without one, by kind."""
    return {
        entry["name"]: names(entry["children"]) if entry.get("children") is not None else entry["type"]
        for entry in entries
    }


async def test_the_tree_lists_the_folders_files_and_nothing_hidden_or_outside(team: Board, tmp_path: Path):
    """SAFE-05: links are listed as links and not followed."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").touch()
    for folder in (".git", ".callboard", "src/deep/deeper"):
        (team.folder / folder).mkdir(parents=True)
        (team.folder / folder / "a.txt").write_text("abc")
    (team.folder / "away").symlink_to(outside)

    whole = await send_read(team, "/api/workspace/tree", depth=8)
    level = await send_read(team, "/api/workspace/tree", project_root=str(team.folder), path="src", depth=1)

    agents = {"lead.md": "file", "second.md": "file", "worker.md": "file"}
    assert names(whole["entries"]) == {"agents": agents, "src": {"deep": {"deeper": {"a.txt": "file"}}}, "away": "link"}
    assert (whole["truncated"], whole["project_root"], whole["path"]) == (False, str(team.folder), "")
    assert level["entries"] == [{"name": "deep", "path": "src/deep", "type": "folder"}]
    for path in ("../outside", "/etc", "away", "away/secret.txt", "src/../../outside", ".git", "a\0b"):
        problem = await check_refusal(await team.http.get("/api/workspace/tree", params={"path": path}), 403)
        assert (problem["code"], problem["field"]) == ("path_denied", "path")
    gone = await team.http.get("/api/workspace/tree", params={"path": "nothing"})
    assert (await check_refusal(gone, 422))["field"] == "path"


async def test_a_large_folder_is_listed_in_part_and_marked(team: Board):
    many = team.folder / "many"
    many.mkdir()
    for number in range(2100):
        (many / f"{number:04}").touch()

    tree = await send_read(team, "/api/workspace/tree")

    assert tree["truncated"] is True
    (folder,) = [entry for entry in tree["entries"] if entry["name"] == "many"]
    assert folder["truncated"] is True
    assert len(folder["children"]) < 2000


async def test_without_the_token_nothing_is_read_or_written(team: Board):
    """SAFE-04: also not from another origin or under another host name."""
    before = await team.heads()
    foreign = [{"Origin": "http://evil.example"}, {"Host": "evil.example"}, {"Sec-Fetch-Site": "cross-site"}]
    for path, params in READS.items():
        assert (await team.anyone.get(path, params=params)).status_code == 401
        for headers in foreign:
            assert (await team.http.get(path, params=params, headers=headers)).status_code == 403
    for path in WRITES:
        assert (await team.anyone.post(path, json={"message": "a", "run_id": "run_a"})).status_code == 401
        for headers in foreign:
            answer = await team.http.post(path, json={"message": "a"}, headers=headers)
            assert answer.status_code == 403
            assert TOKEN not in answer.text
    assert await team.heads() == before


async def test_a_body_that_is_not_json_is_refused_and_writes_nothing(team: Board):
    """SAFE-05"""
    for path in WRITES:
        for content, kind, status in (
            (b"{", "application/json", 400),
            (b"\xff\xfe", "application/json", 400),
            (b"[]", "application/json", 400),
            (b"{}", "text/plain", 415),
        ):
            answer = await team.http.post(path, content=content, headers={"Content-Type": kind})
            problem = await check_refusal(answer, status)
            assert problem["code"] == "invalid_input"
            assert "Traceback" not in answer.text


async def test_a_session_of_a_team_is_read_and_waited_for(team: Board):
    """SUB: list_subagents and wait_subagents over HTTP."""
    session = (await send_write(team, "/api/chat", message="team"))["session_id"]
    await wait_for_fact(team, session, "subagent.awaited")
    await wait_for_fact(team, session, "subagent.completed")
    graph = await team.query("list_subagents", sessionId=session)
    agents = {agent["agentId"]: agent for agent in graph["agents"]}
    lead = agents["lead"]
    none = await team.query("wait_subagents", sessionId=session, agents="worker-2", timeoutS=1)
    first = await team.query("wait_subagents", sessionId=session, agents=["worker-1", "worker-2"], mode="any")
    release(team)
    both = await team.query("wait_subagents", sessionId=session, agents=["worker-1", "worker-2"])

    assert {name: agent["parentThreadId"] for name, agent in agents.items()} == {
        "lead": "",
        "worker-1": lead["threadId"],
        "worker-2": lead["threadId"],
    }
    assert {agents[name]["parentRunId"] for name in ("worker-1", "worker-2")} == {lead["runId"]}
    assert [agents[name]["child"]["status"] for name in ("worker-1", "worker-2")] == ["completed", "running"]
    assert (none["timedOut"], none["ended"], [agent["agentId"] for agent in none["pending"]]) == (
        True,
        [],
        ["worker-2"],
    )
    assert (first["timedOut"], [agent["agentId"] for agent in first["ended"]]) == (False, ["worker-1"])
    assert (both["timedOut"], both["pending"]) == (False, [])
    assert [agent["result"] for agent in both["ended"]] == ["Quick is done.", "Slow so far. \n\nSlow is done."]
    for params, code in (({"agents": "lead"}, "not_your_child"), ({"agents": "ghost"}, "unknown_agent")):
        answer = await team.http.get("/api/v1/queries/wait_subagents", params={"sessionId": session, **params})
        assert answer.json()["code"] == code
