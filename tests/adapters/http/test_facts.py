"""Facts as streams that continue after a cursor, and as pages."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from callboard.adapters.http import feeds
from callboard.contracts.facts import FACTS
from tests.adapters.http.rigs.server import API, SOON, Board
from tests.adapters.http.rigs.stream_client import open_stream


async def stored_events(board: Board, stream: str) -> list[dict[str, Any]]:
    """Return all events of a stream as one page."""
    page = (await board.http.get(f"{API}/{_path(stream)}", params={"limit": 1000})).json()
    assert page["next"] == page["head"] == len(page["events"])
    return page["events"]


def _path(stream: str) -> str:
    return f"{'workspaces' if stream.startswith('wks_') else 'sessions'}/{stream}/facts"


async def test_every_fact_is_one_event_named_by_its_type(board: Board):
    session = await board.session()
    head = (await board.heads())[session]

    async with open_stream(board.http, _path(session)) as follower:
        events = await follower.events(head)

    assert follower.answer.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert [event.id for event in events] == [str(sequence) for sequence in range(1, head + 1)]
    data = [json.loads(event.data) for event in events]
    assert [event.event for event in events] == [event["type"] for event in data]
    assert [event["sequence"] for event in data] == list(range(1, head + 1))
    assert {event["sessionId"] for event in data} == {session}
    assert {event["runtimeId"] for event in data} == {f"{board.store.id}.1"}
    assert {event["type"] for event in data} <= set(FACTS)
    assert data == await stored_events(board, session)


async def test_a_workspace_has_facts(board: Board):
    workspace = await board.workspace()

    async with open_stream(board.http, _path(workspace)) as follower:
        event = await follower.event()

    assert (event.id, event.event) == ("1", "workspace.opened")


async def test_a_reconnecting_client_sees_no_gap_and_no_repeat(board: Board):
    """COM-14, CTL-10"""
    session = await board.session()
    events = await stored_events(board, session)

    for last in range(len(events)):
        async with open_stream(board.http, _path(session), last=str(last)) as follower:
            rest = await follower.events(len(events) - last)

        assert [json.loads(event.data) for event in rest] == events[last:]


async def test_the_last_event_id_overrides_the_address(board: Board):
    """A reconnecting browser repeats its first address."""
    session = await board.session()

    async with open_stream(board.http, _path(session), after=1) as follower:
        assert (await follower.event()).id == "2"
    async with open_stream(board.http, _path(session), last="3", after=1) as follower:
        assert (await follower.event()).id == "4"


async def test_a_waiting_client_receives_new_facts(board: Board):
    """UI-01: a stream opened before a turn misses none of its facts."""
    session = await board.session()
    head = (await board.heads())[session]

    async with open_stream(board.http, _path(session), last=str(head)) as follower, asyncio.timeout(SOON):
        accepted = await board.command("submit_turn", text="again", sessionId=session)
        first = await follower.event()

    assert (first.event, first.id) == ("turn.submitted", str(head + 1))
    assert json.loads(first.data)["turnId"] == accepted["turnId"]


async def test_an_id_from_the_future_gets_a_gap_answer(board: Board):
    """CTL-10: an invalid cursor is never replaced by a guess."""
    session = await board.session()
    head = (await board.heads())[session]

    async with open_stream(board.http, _path(session), last=str(head + 1)) as follower, asyncio.timeout(SOON):
        event = await follower.event()
        assert await follower.ended()
    page = await board.http.get(f"{API}/{_path(session)}", params={"after": head + 1, "limit": 10})

    assert (event.event, event.id) == ("gap", "")
    assert (page.status_code, page.json()) == (410, json.loads(event.data))
    assert page.json()["message"] == f"Cannot continue after {head + 1}: {session} ends at {head}."


async def test_a_deleted_stream_answers_with_a_gap_and_then_as_unknown(board: Board):
    session = await board.session()
    head = (await board.heads())[session]

    async with open_stream(board.http, _path(session), last=str(head)) as follower, asyncio.timeout(SOON):
        await board.command("delete_session", sessionId=session, confirm=session)
        during = await follower.event()
        assert await follower.ended()
    async with open_stream(board.http, _path(session), last=str(head)) as follower, asyncio.timeout(SOON):
        after = await follower.event()
        assert await follower.ended()
    anew = await board.http.get(f"{API}/{_path(session)}")

    assert (during.event, after.event) == ("gap", "gap")
    assert json.loads(after.data)["code"] == "gap"
    assert (anew.status_code, anew.json()["code"]) == (404, "unknown_session")


async def test_facts_are_read_by_page(board: Board):
    session = await board.session()
    events = await stored_events(board, session)
    path = f"{API}/{_path(session)}"

    gathered: list[dict[str, Any]] = []
    after = 0
    while True:
        page = (await board.http.get(path, params={"after": after, "limit": 3})).json()
        assert page["head"] == len(events)
        if not page["events"]:
            break
        assert len(page["events"]) <= 3
        gathered += page["events"]
        after = page["next"]
    accepted = (await board.http.get(path, headers={"Accept": "application/json"})).json()

    assert gathered == events
    assert after == len(events)
    assert accepted["events"] == events


async def test_a_page_has_a_size_limit_and_at_least_one_fact(board: Board, monkeypatch: pytest.MonkeyPatch):
    session = await board.session()
    monkeypatch.setattr(feeds, "MAX_PAGE_BYTES", 1)

    page = (await board.http.get(f"{API}/{_path(session)}", params={"limit": 100})).json()

    assert [event["sequence"] for event in page["events"]] == [1]
    assert page["next"] == 1


async def test_a_stream_is_written_in_bounded_chunks_of_whole_events(board: Board, monkeypatch: pytest.MonkeyPatch):
    session = await board.session()
    monkeypatch.setattr(feeds, "MAX_CHUNK_BYTES", 1)
    events = await stored_events(board, session)

    async with open_stream(board.http, _path(session)) as follower:
        received = await follower.events(len(events))

    assert [json.loads(event.data) for event in received] == events


async def test_a_missing_stream_is_unknown(board: Board):
    for path, code in (
        ("sessions/ses_none/facts", "unknown_session"),
        ("sessions/ses_none/ops", "unknown_session"),
        ("sessions/wks_none/facts", "unknown_session"),
        ("sessions/x/ops", "unknown_session"),
        ("workspaces/wks_none/facts", "unknown_workspace"),
        ("workspaces/wks_none/ops", "unknown_workspace"),
        ("workspaces/ses_none/ops", "unknown_workspace"),
        ("sessions/..%2Fetc/facts", "unknown_route"),
        ("sessions/ses_%00/facts", "unknown_session"),
    ):
        answer = await board.http.get(f"{API}/{path}")

        assert (answer.status_code, answer.json()["code"]) == (404, code), path


async def test_a_session_is_available_only_under_sessions(board: Board):
    session = await board.session()
    workspace = await board.workspace()

    crossed = [
        await board.http.get(f"{API}/workspaces/{session}/facts"),
        await board.http.get(f"{API}/sessions/{workspace}/ops"),
    ]

    assert [answer.json()["code"] for answer in crossed] == ["unknown_workspace", "unknown_session"]


async def test_an_invalid_last_event_id_is_refused(board: Board):
    """SAFE-05"""
    session = await board.session()

    for last in ("x", "-1", "1.2.3", "1.x", "9" * 19, "", "١"):
        for feed in ("facts", "ops"):
            answer = await board.http.get(
                f"{API}/sessions/{session}/{feed}", headers=[(b"Last-Event-ID", last.encode())]
            )

            assert (answer.status_code, answer.json()["code"]) == (400, "invalid_input")
            assert answer.json()["field"] == "Last-Event-ID"


async def test_a_malformed_cursor_is_named_with_its_field(board: Board):
    """SAFE-05"""
    session = await board.session()

    for path, field in (
        ("facts?after=-1", "after"),
        ("facts?after=x", "after"),
        ("facts?after=1&after=2", "after"),
        ("facts?limit=0", "limit"),
        ("facts?limit=1001", "limit"),
        ("facts?limit=null", "limit"),
        ("facts?before=1", "before"),
        ("ops?after=x", "after"),
        ("ops?limit=1", "limit"),
    ):
        answer = await board.http.get(f"{API}/sessions/{session}/{path}")

        assert (answer.status_code, answer.json()["code"], answer.json()["field"]) == (400, "invalid_input", field)
