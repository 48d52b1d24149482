"""Artifacts over HTTP: read, save, export, delete, and events."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any, get_args

from callboard.contracts.vocabulary import EventClass
from callboard.runtime.dependencies import Limits
from tests.adapters.http.rigs.server import API, SOON, Board, serving
from tests.adapters.http.rigs.stream_client import open_stream

SCENARIO = """
name: writes
match:
  - text: ""
    calls:
      - [{tool: {name: Write, arguments: {file_path: notes.md, content: "one\\n"}}}]
      - [{text: "Done."}]
"""
#: The artifact classes of the Agent UI specification.
CLASSES = {name for name in get_args(EventClass) if name.startswith("artifact.")}


async def write_artifact(board: Board) -> tuple[str, dict[str, Any]]:
    """Create a session whose agent writes a file; return it with the artifact."""
    workspace = await board.workspace()
    started = await board.command("submit_turn", text="go", workspaceId=workspace, permissionMode="edits")
    await board.idle(started["sessionId"])
    (row,) = (await board.query("list_artifacts", sessionId=started["sessionId"]))["artifacts"]
    return started["sessionId"], row


async def wait_for_export(board: Board, session: str, export: str) -> dict[str, Any]:
    """Return the export after it has ended."""
    async with asyncio.timeout(SOON):
        async for records in board.store.facts.subscribe(session):
            ends = ("artifact.export.completed", "artifact.failed")
            if any(record.fact.type in ends and getattr(record.fact, "export", "") == export for record in records):
                break
    rows = (await board.query("list_artifacts", sessionId=session))["artifacts"]
    return next(export_row for row in rows for export_row in row.get("exports", ()) if export_row["export"] == export)


async def test_an_artifact_is_read_saved_exported_and_downloaded(tmp_path: Path) -> None:
    """CTX-04, UI-13, UI-14, UI-15"""
    async with serving(tmp_path, scenario=SCENARIO) as board:
        session, row = await write_artifact(board)
        mine = {"sessionId": session, "artifactId": row["artifactId"]}
        saved = await board.command("edit_artifact", "k1", **mine, baseVersion=1, content="two\n")
        assert (saved["version"], saved["status"]) == (2, "saved")
        assert await board.command("edit_artifact", "k1", **mine, baseVersion=1, content="two\n") == saved

        refused = await board.http.post(
            f"{API}/commands/edit_artifact", json={**mine, "baseVersion": 1, "content": "mine\n"}
        )
        problem = refused.json()
        assert (refused.status_code, problem["code"], problem["field"]) == (409, "artifact_conflict", "baseVersion")

        read = await board.query("get_artifact", **mine)
        assert [(version["version"], version["versionOrigin"]) for version in read["versions"]] == [
            (1, "agent"),
            (2, "person"),
        ]
        assert read["artifact"]["status"] == "conflict"
        diff = await board.query("get_artifact_diff", **mine, fromVersion=1, toVersion=2)
        assert (diff["diff"].splitlines()[-2:], diff["added"], diff["removed"]) == (["-one", "+two"], 1, 1)

        begun = await board.command("export_artifact", sessionId=session, artifactIds=[row["artifactId"]], form="diff")
        entry = await wait_for_export(board, session, begun["exportId"])
        answer = await board.http.get(f"{API}/blobs/{entry['content']['hash']}")
        assert (answer.status_code, answer.text) == (200, diff["diff"])
        draft = await board.http.get(f"{API}/blobs/{read['artifact']['draft']['hash']}")
        assert draft.text == "mine\n"


async def test_every_class_of_artifact_events_is_emitted(tmp_path: Path) -> None:
    """CTX-05: ten classes, each with the artifact's id, from one real session."""
    assert len(CLASSES) == 10
    async with serving(tmp_path, scenario=SCENARIO, limits=Limits(write_behind=0.01, export_interval=0.0)) as board:
        session, row = await write_artifact(board)
        mine = {"sessionId": session, "artifactId": row["artifactId"]}
        await board.command("edit_artifact", **mine, baseVersion=1, content="two\n")
        await board.command("rollback_artifact", **mine, version=1, baseVersion=2)
        stale = {**mine, "baseVersion": 1, "content": "mine\n"}
        assert (await board.http.post(f"{API}/commands/edit_artifact", json=stale)).status_code == 409
        begun = await board.command("export_artifact", sessionId=session, form="zip")
        await wait_for_export(board, session, begun["exportId"])
        gone = await board.command("delete_artifact", **mine, confirm=row["artifactId"], file=True)

        events: list[dict[str, Any]] = []
        async with open_stream(board.http, f"sessions/{session}/events", vocabulary="agent_ui") as follower:
            async with asyncio.timeout(SOON):
                while not events or events[-1]["sequence"] < gone["sequence"]:
                    events.append(json.loads((await follower.event()).data))
        received = [event for event in events if event["type"].startswith("artifact.")]
        assert {event["type"] for event in received} == CLASSES
        assert {event["artifactId"] for event in received} == {row["artifactId"]}
        assert {(event["owner"], event["surface"]) for event in received} == {("artifact", "artifact_workspace")}
        progress = [event["payload"] for event in received if event["payload"].get("status") == "exporting"]
        assert [(event["done"], event["total"]) for event in progress] == [(4, 4)]
        controls = {event["control"] for event in received if event.get("control")}
        assert controls >= {"edit", "rollback", "export", "retry"}


async def test_a_save_of_an_unknown_artifact_is_refused_and_writes_nothing(tmp_path: Path) -> None:
    async with serving(tmp_path, scenario=SCENARIO) as board:
        session, row = await write_artifact(board)
        heads = await board.heads()
        mine = {"sessionId": session, "artifactId": row["artifactId"]}
        for name, fields, status in (
            ("edit_artifact", {**mine, "artifactId": "art_none", "baseVersion": 1, "content": "x"}, 404),
            ("edit_artifact", {**mine, "baseVersion": 0, "content": "x"}, 400),
            ("edit_artifact", {**mine, "baseVersion": 1}, 400),
            ("create_artifact", {"sessionId": session, "path": ".git/config", "content": "x"}, 403),
            ("create_artifact", {"sessionId": session, "content": "x"}, 400),
            ("delete_artifact", {**mine, "confirm": "art_other"}, 400),
            ("rollback_artifact", {**mine, "version": 7, "baseVersion": 1}, 400),
            ("export_artifact", {"sessionId": session, "form": "pdf"}, 400),
        ):
            answer = await board.http.post(f"{API}/commands/{name}", json=fields)
            assert (answer.status_code, set(answer.json()) >= {"code", "message"}) == (status, True), (
                name,
                answer.text,
            )
        assert await board.heads() == heads
