"""JSON-RPC 2.0 over the commands."""

from __future__ import annotations

from typing import Any

import pytest

from callboard.adapters.http.rpc import METHODS
from callboard.contracts.commands.base import COMMANDS
from callboard.contracts.vocabulary import SUBAGENT_CONTROLS
from tests.adapters.http.rigs.server import API, Board


async def post(board: Board, sent: Any, key: str = "") -> Any:
    headers = {"Idempotency-Key": key} if key else {}
    return await board.http.post(f"{API}/rpc", json=sent, headers=headers)


async def call(board: Board, method: str, key: str = "", **params: Any) -> Any:
    sent = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
    answer = await post(board, sent, key)
    assert answer.status_code == 200
    assert answer.json()["id"] == 7
    return answer.json()


def test_every_command_is_a_method_and_every_alias_is_exactly_one():
    """Subagents spec, Control plane: the names are aliases of commands."""
    assert {name: row.name for name, row in METHODS.items()} == {
        **{name: name for name in COMMANDS},
        **SUBAGENT_CONTROLS,
    }


async def test_a_task_is_worked_on_through_the_names_of_the_specification(board: Board):
    session = await board.session()
    created = (await call(board, "create_task", sessionId=session, title="The report", taskId="tsk_a"))["result"]
    assert created["status"] == "open"
    paused = await call(board, "task/pause", sessionId=session, taskId="tsk_a", reason="not yet")
    assert paused["result"]["status"] == "blocked"
    again = await call(board, "task/pause", sessionId=session, taskId="tsk_a")
    assert (again["error"]["code"], again["error"]["data"]["code"]) == (-32000, "task_paused")
    assert again["error"]["message"] == again["error"]["data"]["message"]
    await call(board, "task/resume", sessionId=session, taskId="tsk_a")
    await call(board, "task/cancel", sessionId=session, taskId="tsk_a", reason="enough")

    listed = (await call(board, "list_tasks", sessionId=session))["result"]["tasks"]
    assert [(task["taskId"], task["status"]) for task in listed] == [("tsk_a", "cancelled")]
    read = await board.query("get_task", sessionId=session, taskId="tsk_a")
    assert (read["task"]["status"], read["snapshot"]["taskId"]) == ("cancelled", "tsk_a")


async def test_an_invalid_call_has_the_protocols_error_codes(board: Board):
    headers = {"Content-Type": "application/json"}
    broken = (await board.http.post(f"{API}/rpc", content=b"{", headers=headers)).json()
    assert (broken["error"]["code"], broken["id"]) == (-32700, None)
    for sent, code, name in (
        ({"id": 1, "method": "get_session"}, -32600, 1),
        ({"jsonrpc": "1.0", "id": "a", "method": "get_session"}, -32600, "a"),
        ({"jsonrpc": "2.0", "id": 2, "method": "no/such"}, -32601, 2),
        ({"jsonrpc": "2.0", "id": 3, "method": "get_session", "params": ["ses_1"]}, -32602, 3),
        ({"jsonrpc": "2.0", "id": 4, "method": "get_session", "params": {"sessionId": 5}}, -32602, 4),
        ({"jsonrpc": "2.0", "id": 5, "method": "get_session"}, -32602, 5),
        ({"jsonrpc": "2.0", "id": 6, "method": "get_session", "params": {"sessionId": "ses_none"}}, -32000, 6),
        ([], -32600, None),
        ("hello", -32600, None),
    ):
        answer = (await post(board, sent)).json()
        assert (answer["error"]["code"], answer["id"]) == (code, name)
        assert answer["error"]["data"]["code"]


async def test_a_batch_is_carried_out_in_order_and_notifications_are_not_answered(board: Board):
    session = await board.session()
    create = {
        "jsonrpc": "2.0",
        "method": "create_task",
        "params": {"sessionId": session, "title": "A", "taskId": "tsk_a"},
    }
    done = {"jsonrpc": "2.0", "id": 1, "method": "complete_task", "params": {"sessionId": session, "taskId": "tsk_a"}}
    answers = (await post(board, [create, done, {"jsonrpc": "2.0", "id": 2, "method": "nothing"}])).json()
    assert [(answer["id"], answer.get("result", {}).get("status")) for answer in answers] == [(1, "done"), (2, None)]

    alone = await post(board, {**create, "params": {**create["params"], "taskId": "tsk_b"}})
    assert (alone.status_code, alone.content) == (204, b"")
    tasks = (await board.query("list_tasks", sessionId=session))["tasks"]
    assert [task["taskId"] for task in tasks] == ["tsk_b", "tsk_a"]


async def test_a_call_repeated_with_its_key_has_one_effect(board: Board):
    """CTL-01"""
    session = await board.session()
    first = await call(board, "create_task", "k1", sessionId=session, title="A")
    assert await call(board, "create_task", "k1", sessionId=session, title="A") == first
    other = await call(board, "create_task", "k1", sessionId=session, title="B")
    assert other["error"]["data"]["code"] == "idempotency_conflict"
    assert len((await board.query("list_tasks", sessionId=session))["tasks"]) == 1


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer wrong"}])
async def test_a_call_without_the_token_is_refused(board: Board, headers: dict[str, str]):
    sent = {"jsonrpc": "2.0", "id": 1, "method": "list_workspaces"}
    answer = await board.anyone.post(f"{API}/rpc", json=sent, headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")
