"""Routes of commands: answers, refusals and idempotency keys."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

from callboard import __version__
from callboard.adapters.http.problems import METHOD_NOT_ALLOWED, STATUS
from callboard.contracts.commands import TABLE
from callboard.contracts.commands.base import Command
from callboard.contracts.errors import Refusal
from callboard.contracts.scope import Actor
from tests.adapters.http.rigs.server import API, Board, serving


async def test_every_command_is_a_post_and_every_query_a_get(board: Board):
    """Routes derive only from declarations."""
    for row in TABLE:
        right, wrong = (("queries", "commands") if row.query else ("commands", "queries"))[:2]
        refused = await board.http.request("GET" if row.query else "POST", f"{API}/{right}/{row.name}", json={})
        other_method = await board.http.request("PUT", f"{API}/{right}/{row.name}", json={})
        elsewhere = await board.http.get(f"{API}/{wrong}/{row.name}")

        assert refused.status_code in (200, 400), row.name
        assert other_method.status_code == METHOD_NOT_ALLOWED
        assert other_method.headers["allow"] == ("GET, HEAD" if row.query else "POST")
        assert (elsewhere.status_code, elsewhere.json()["code"]) == (404, "unknown_route")


async def test_a_turn_is_submitted_and_read(board: Board):
    workspace = await board.workspace()

    accepted = await board.command("submit_turn", text="hello", workspaceId=workspace)
    await board.idle(accepted["sessionId"])
    read = await board.query("get_session", sessionId=accepted["sessionId"], turns=5, waitFor=accepted["sequence"])

    assert accepted["status"] == "started"
    assert [turn["turnId"] for turn in read["turns"]] == [accepted["turnId"]]
    assert read["session"]["workspaceId"] == workspace


async def test_a_fact_names_the_interface_of_its_command(board: Board):
    await board.sign_in()
    by_page = await board.anyone.post(f"{API}/commands/open_workspace", json={"path": str(board.folder)})
    session = await board.session()

    workspace_facts = await board.store.facts.read(by_page.json()["workspaceId"])
    session_facts = await board.store.facts.read(session)

    assert workspace_facts[0].header.actor == Actor(kind="person", id="page")
    assert session_facts[0].header.actor == Actor(kind="person", id="api")


async def test_a_command_repeated_with_its_key_also_concurrently_has_one_effect_and_one_answer(board: Board):
    """CTL-01"""
    workspace = await board.workspace()
    fields = {"text": "hello", "workspaceId": workspace}

    answers = await asyncio.gather(*(board.command("submit_turn", key="once", **fields) for _ in range(10)))
    later = await board.command("submit_turn", key="once", **fields)

    assert answers == [later] * 10
    assert [stream for stream in await board.heads() if stream.startswith("ses_")] == [later["sessionId"]]


async def test_a_key_used_for_another_body_is_refused(board: Board):
    """CTL-01"""
    workspace = await board.workspace()
    first = await board.command("submit_turn", key="once", text="hello", workspaceId=workspace)
    await board.idle(first["sessionId"])
    before = await board.heads()

    answer = await board.http.post(
        f"{API}/commands/submit_turn",
        json={"text": "another", "workspaceId": workspace},
        headers={"Idempotency-Key": "once"},
    )

    assert (answer.status_code, answer.json()["code"]) == (409, "idempotency_conflict")
    assert answer.json()["field"] == "Idempotency-Key"
    assert await board.heads() == before


async def test_a_turn_with_a_stable_id_is_created_once(board: Board):
    """CTL-02"""
    workspace = await board.workspace()
    fields = {"text": "hello", "workspaceId": workspace, "turnId": "trn_of-the-caller"}

    first = await board.command("submit_turn", **fields)
    second = await board.command("submit_turn", **fields)

    assert first == second
    assert first["turnId"] == "trn_of-the-caller"


@pytest.mark.parametrize("key", ["", " ", "a b", "k" * 129, "schlüssel"])
async def test_an_invalid_key_is_refused(board: Board, key: str):
    """SAFE-05"""
    answer = await board.http.post(
        f"{API}/commands/open_workspace",
        json={"path": str(board.folder)},
        headers=[(b"Idempotency-Key", key.strip().encode())],
    )

    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_input")
    assert answer.json()["field"] == "Idempotency-Key"
    assert await board.heads() == {}


async def test_the_longest_key_is_accepted(board: Board):
    assert await board.command("open_workspace", key="k" * 128, path=str(board.folder))


async def test_json_may_name_its_charset(board: Board):
    body = json.dumps({"path": str(board.folder)}).encode()

    answer = await board.http.post(
        f"{API}/commands/open_workspace", content=body, headers={"Content-Type": "Application/JSON; charset=utf-8"}
    )

    assert answer.status_code == 200


async def test_the_largest_prompt_is_accepted(board: Board):
    accepted = await board.command("submit_turn", text="é" * 1_000_000, workspaceId=await board.workspace())

    assert accepted["status"] == "started"


async def test_a_refusal_has_a_code_a_field_and_a_hint(board: Board):
    answer = await board.http.get(f"{API}/queries/get_session", params={"sessionId": "ses_none"})

    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/json"
    assert answer.json() == {
        "code": "unknown_session",
        "message": "There is no session ses_none.",
        "field": "sessionId",
        "hint": "Find sessions with list_sessions.",
    }


class Refusing:
    """Command service that refuses everything with one code, or raises an error."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    async def submit(self, command: Command, *, key: str = "", actor: Actor) -> Any:
        raise self.error


async def test_a_refusal_has_the_http_status_of_its_code(tmp_path: Path):
    refusing = Refusing(Refusal("internal", "No."))
    async with serving(tmp_path, commands=refusing) as board:
        for code, status in STATUS.items():
            refusing.error = Refusal(code, "No.")
            answer = await board.http.get(f"{API}/queries/list_workspaces")

            assert (answer.status_code, answer.json()) == (status, {"code": code, "message": "No."})


async def test_a_defect_is_reported_only_by_its_incident(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    """SAFE-05: the log has the stack trace under the incident's id; the answer has neither trace nor message."""
    async with serving(tmp_path, commands=Refusing(ZeroDivisionError("the secret of /home/someone"))) as board:
        answer = await board.http.post(f"{API}/commands/open_workspace", json={"path": "/"})

        assert answer.status_code == 500
        problem = answer.json()
        assert set(problem) == {"code", "message", "hint"}
        assert problem["code"] == "internal"
        incident = re.search(r"inc_[0-9a-f]{12}", problem["message"])
        assert incident is not None
        assert "secret" not in answer.text
        assert "Traceback" not in answer.text
        assert (await board.http.get("/healthz")).status_code == 200
    (logged,) = [record for record in caplog.records if incident[0] in record.getMessage()]
    assert logged.exc_info is not None
    assert logged.getMessage() == f"{incident[0]}: POST {API}/commands/open_workspace failed"


async def test_the_server_describes_itself(board: Board):
    workspace = await board.workspace()

    answer = await board.http.get(f"{API}/meta")

    assert answer.json() == {
        "version": __version__,
        "runtimeId": f"{board.store.id}.1",
        "epoch": 1,
        "storeId": board.store.id,
        "models": [{"provider": "scripted", "name": "short-answers", "label": "scripted · short-answers"}],
        "workspaces": [
            {"workspaceId": workspace, "path": str(board.folder), "name": board.folder.name, "sample": False}
        ],
        "demos": [],
    }
