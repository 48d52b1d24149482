"""Malformed requests: the error names the field, nothing changes, and no stack trace is sent."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from callboard.adapters.http.requests import MAX_BODY_BYTES
from callboard.contracts.commands import TABLE
from callboard.contracts.errors import CODES
from tests.adapters.http.rigs.server import API, Board, serving

pytestmark = pytest.mark.asyncio(loop_scope="module")

SUBMIT = f"{API}/commands/submit_turn"
JSON = {"Content-Type": "application/json"}
POSTED = [row.name for row in TABLE if not row.query]
MANY = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    derandomize=True,
)


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def board(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Board]:
    """Provide one Callboard for all tests of this module; none of them writes."""
    async with serving(tmp_path_factory.mktemp("folder")) as running:
        yield running


async def test_a_past_turn_with_an_impossible_time_is_refused(board: Board):
    """SAFE-05: every reader of such a time would fail."""
    past = {"workspaceId": "wks_1", "source": "codex", "sourceId": "s", "turnId": "t", "at": 2**53}

    answer = await board.http.post(f"{API}/commands/import_turn", json=past)

    assert (answer.status_code, answer.json()["code"], answer.json()["field"]) == (400, "invalid_input", "at")


@pytest.mark.parametrize(
    ("body", "field", "message"),
    [
        (b"", "", "truncated"),
        (b"{", "", "truncated"),
        (b'{"text": "a"} x', "", "trailing characters"),
        (b"text=a", "", "malformed"),
        (b"[]", "", "The value must be `object`, not `array`."),
        (b"null", "", "The value must be `object`, not `null`."),
        (b"{}", "text", "text is missing."),
        (b'{"text": 1}', "text", "text must be `str`, not `int`."),
        (b'{"text": ""}', "text", "text must not be empty."),
        (b'{"text": " \\n\\t "}', "text", "text must not be empty."),
        (b'{"text": null}', "text", "text must be `str`, not `null`."),
        (b'{"text": "a", "mode": "shell"}', "mode", "mode does not accept the value 'shell'."),
        (b'{"text": "a", "whenBusy": 7}', "whenBusy", "whenBusy must be `str`, not `int`."),
        (b'{"text": "a", "sessionId": "../etc"}', "sessionId", "sessionId contains invalid characters."),
        (b'{"text": "a", "sessionId": ""}', "sessionId", "sessionId must not be empty."),
        (b'{"text": "a", "session_id": "ses_1"}', "session_id", "session_id is an unknown field."),
        (b'{"text": "a", "admin": true}', "admin", "admin is an unknown field."),
        (b'{"text": "\xff\xfe"}', "", "utf-8"),
        (b'{"text": "\\ud800"}', "", "truncated"),
        (b'{"text": "a\x00"}', "", "malformed"),
        (b"\xef\xbb\xbf{}", "", "malformed"),
        (b'{"text": ' + b"[" * 100_000, "text", "text must be `str`, not `array`."),
        (b'{"' + b"n" * 100_000 + b'": 1}', "n" * 99 + "…", "unknown field"),
    ],
)
async def test_a_malformed_body_is_named_with_its_field(board: Board, body: bytes, field: str, message: str):
    """SAFE-05"""
    before = await board.heads()

    answer = await board.http.post(SUBMIT, content=body, headers=JSON)

    problem = answer.json()
    assert (answer.status_code, problem["code"], problem.get("field", "")) == (400, "invalid_input", field)
    assert message in problem["message"]
    assert len(answer.content) < 1000
    assert await board.heads() == before


async def test_an_invalid_field_says_where_its_values_are_listed(board: Board):
    """SAFE-05"""
    answer = await board.http.post(SUBMIT, content=b'{"text": "a", "mode": "shell"}', headers=JSON)
    assert "openapi.json" in answer.json()["hint"]


@pytest.mark.parametrize(
    ("headers", "field"),
    [
        ({}, "Content-Type"),
        ({"Content-Type": "text/plain"}, "Content-Type"),
        ({"Content-Type": "application/x-www-form-urlencoded"}, "Content-Type"),
        ({"Content-Type": "multipart/form-data; boundary=application/json"}, "Content-Type"),
        ({**JSON, "Content-Encoding": "gzip"}, "Content-Encoding"),
    ],
)
async def test_a_body_in_another_format_is_refused_even_from_the_page(
    board: Board, headers: dict[str, str], field: str
):
    """SAFE-05, SAFE-04: a form of another page cannot send JSON."""
    before = await board.heads()
    await board.sign_in()
    body = json.dumps({"path": str(board.folder)}).encode()

    for client in (board.http, board.anyone):
        answer = await client.post(f"{API}/commands/open_workspace", content=body, headers=headers)

        assert (answer.status_code, answer.json()["code"], answer.json()["field"]) == (415, "invalid_input", field)
    assert await board.heads() == before


@pytest.mark.parametrize("declared", [True, False])
async def test_a_large_body_is_refused(board: Board, declared: bool):
    """SAFE-05: with and without a Content-Length."""

    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(5):
            yield b" " * (1024 * 1024)

    body: Any = b" " * (MAX_BODY_BYTES + 1) if declared else pieces()

    answer = await board.http.post(SUBMIT, content=body, headers=JSON)

    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
    assert (await board.http.get("/healthz")).status_code == 200


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("", "sessionId"),
        ("sessionId=ses_1&sessionId=ses_2", "sessionId"),
        ("sessionId=ses_1&turns=many", "turns"),
        ("sessionId=ses_1&turns=0", "turns"),
        ("sessionId=ses_1&turns=201", "turns"),
        ("sessionId=ses_1&turns=99999999999999999999999", "turns"),
        ("sessionId=ses_1&turns=1.5", "turns"),
        ("sessionId=ses_1&turns=", "turns"),
        ("sessionId=ses_1&turns=null", "turns"),
        ("sessionId=ses_1&waitFor=-1", "waitFor"),
        ("sessionId=ses_1&limit=5", "limit"),
        ("sessionId=%00", "sessionId"),
        ("sessionId=a%20b", "sessionId"),
        ("session_id=ses_1&sessionId=ses_1", "session_id"),
    ],
)
async def test_a_malformed_query_is_named_with_its_field(board: Board, query: str, field: str):
    """SAFE-05"""
    answer = await board.http.get(f"{API}/queries/get_session?{query}")

    assert (answer.status_code, answer.json()["code"], answer.json()["field"]) == (400, "invalid_input", field)


async def test_a_null_value_in_a_query_is_refused_by_its_field(board: Board):
    """SAFE-05"""
    answer = await board.http.get(f"{API}/queries/get_turns?sessionId=ses_1&before=null")

    assert (answer.status_code, answer.json()["code"], answer.json()["field"]) == (400, "invalid_input", "before")


@pytest.mark.parametrize(
    "path", ["/api", "/api/", f"{API}/", f"{API}/meta/", f"{API}/commands/rm", f"{API}/sessions", "/api/v2/meta"]
)
async def test_an_unknown_route_is_named(board: Board, path: str):
    """SAFE-05"""
    answer = await board.http.get(path)

    assert (answer.status_code, answer.json()["code"]) == (404, "unknown_route")


@given(name=st.sampled_from(POSTED), body=st.binary(max_size=300))
@MANY
async def test_any_bytes_are_refused_and_write_nothing(board: Board, name: str, body: bytes):
    """SAFE-05"""
    await check_refused(board, name, body)


@given(
    name=st.sampled_from(POSTED),
    value=st.recursive(
        st.none() | st.booleans() | st.floats(allow_nan=False) | st.integers() | st.text(max_size=20),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
        max_leaves=8,
    ),
)
@MANY
async def test_any_json_is_refused_and_writes_nothing(board: Board, name: str, value: object):
    """SAFE-05"""
    await check_refused(board, name, json.dumps(value).encode())


async def check_refused(board: Board, name: str, body: bytes) -> None:
    before = await board.heads()

    answer = await board.http.post(f"{API}/commands/{name}", content=body, headers=JSON)

    problem = answer.json()
    assert answer.status_code == 400, (body, answer.text)
    assert problem["code"] in CODES
    assert set(problem) <= {"code", "message", "field", "hint"}
    assert "Traceback" not in answer.text
    assert await board.heads() == before


@pytest.mark.parametrize("field", ["before", "limit"])
async def test_a_number_that_no_store_can_represent_is_refused_by_field(board: Board, field: str):
    """SAFE-05"""
    answer = await board.http.get(f"{API}/queries/get_turns?sessionId=ses_1&{field}={2**63}")

    assert (answer.status_code, answer.json()["code"], answer.json()["field"]) == (400, "invalid_input", field)
