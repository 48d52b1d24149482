"""The facts of a session as events of the Agent UI and the Subagents specifications."""

from __future__ import annotations

import asyncio
import json
from typing import Any, get_args

import pytest

from callboard.contracts.vocabulary import EventClass
from tests.adapters.http.rigs.server import API, SOON, Board
from tests.adapters.http.rigs.stream_client import open_stream


async def test_agent_ui_events_follow_the_sequence_of_facts(board: Board) -> None:
    """COM-14: from the first fact or a later one, the same events without a gap or a repeat."""
    session = await board.session()
    async with open_stream(board.http, f"sessions/{session}/events", vocabulary="agent_ui") as follower:
        every = [await follower.event() for _ in range(9)]
    first = [event for event in every if event.event != "session.hydrated"][:8]
    assert {event.event for event in first} <= set(get_args(EventClass))
    events = [json.loads(event.data) for event in first]
    assert events[0]["type"] == "session.opened"
    assert {event["sessionId"] for event in events} == {session}
    numbers = [event["sequence"] for event in events]
    assert numbers == sorted(numbers)
    # Only the last event of a fact moves the cursor: a client that saw some of them receives all again.
    places = [int(event.id or 0) for event in first[:-1]]
    assert places == [
        number if number != following_one else previous
        for number, following_one, previous in zip(numbers, numbers[1:], [0, *places], strict=False)
    ]

    after = numbers[3]
    async with open_stream(board.http, f"sessions/{session}/events", vocabulary="agent_ui", after=after) as follower:
        later = json.loads((await follower.event()).data)
    assert later == next(event for event in events if event["sequence"] > after)


async def test_the_boundary_between_stored_and_new_events_is_sent_once(board: Board) -> None:
    """UI-34, COM-14: after the last stored fact, even if no stored fact is sent. It is not a cursor."""
    session = await board.session()
    for again in (False, True):
        await board.idle(session)
        head = (await board.heads())[session]
        query: dict[str, Any] = {"after": head} if again else {}
        async with open_stream(board.http, f"sessions/{session}/events", vocabulary="agent_ui", **query) as follower:
            events = [json.loads((await follower.event()).data)]
            while events[-1]["type"] != "session.hydrated":
                events.append(json.loads((await follower.event()).data))
            assert (events[-1]["sequence"], events[-1]["phase"], events[-1]["payload"]) == (
                head,
                "hydrating",
                {"through": head},
            )
            assert {event["sequence"] for event in events[:-1]} <= set(range(1, 1 if again else head + 1))
            await board.command("submit_turn", text="more", sessionId=session)
            news: list[dict[str, Any]] = []
            async with asyncio.timeout(SOON):
                while not news or news[-1]["type"] != "run.finished":
                    news.append(json.loads((await follower.event()).data))
            assert min(event["sequence"] for event in news) > head
            assert "session.hydrated" not in {event["type"] for event in news}


async def test_deltas_between_facts_add_up_to_the_final_text(board: Board) -> None:
    """UI-03, COM-14: each delta has an offset in its part and a cursor after the newest fact."""
    session = await board.session()
    accepted = await board.command("submit_turn", text="a long one", sessionId=session)
    events: list[dict[str, Any]] = []
    async with open_stream(board.http, f"sessions/{session}/events", vocabulary="agent_ui") as follower:
        async with asyncio.timeout(SOON):
            while not events or events[-1]["type"] != "run.finished" or events[-1]["turnId"] != accepted["turnId"]:
                events.append(json.loads((await follower.event()).data))
    mine = [event for event in events if event.get("turnId") == accepted["turnId"]]
    pieces = [event for event in mine if event["type"] == "text.delta"]
    (final,) = [event for event in mine if event["type"] == "text.final"]

    text = ""
    for piece in pieces:
        text = text[: piece["payload"]["offset"]] + piece["payload"]["delta"]
    assert text in ("", final["payload"]["content"]["text"][: len(text)])
    assert {piece["partId"] for piece in pieces} <= {final["partId"]}
    places = [(event["sequence"], event.get("n", 0)) for event in events]
    assert places == sorted(places)


async def test_a_late_client_gets_the_text_so_far(board: Board) -> None:
    """COM-14: from the start of the part, for every new client."""
    session = (await board.command("submit_turn", text="wait", workspaceId=await board.workspace()))["sessionId"]
    for _ in range(2):
        async with open_stream(board.http, f"sessions/{session}/events", vocabulary="agent_ui") as follower:
            async with asyncio.timeout(SOON):
                text = ""
                while text != "so far":
                    event = json.loads((await follower.event()).data)
                    if event["type"] == "text.delta":
                        text = text[: event["payload"]["offset"]] + event["payload"]["delta"]
    await board.command("interrupt_turn", sessionId=session)


@pytest.mark.parametrize(
    ("address", "status", "code", "field"),
    [
        ("sessions/ses_none/events?vocabulary=agent_ui", 404, "unknown_session", None),
        ("sessions/{}/events", 400, "invalid_input", "vocabulary"),
        ("sessions/{}/events?vocabulary=other", 400, "invalid_input", "vocabulary"),
        ("sessions/{}/events?vocabulary=agent_ui&after=-1", 400, "invalid_input", "after"),
        ("workspaces/{}/events?vocabulary=agent_ui", 404, "unknown_route", None),
    ],
)
async def test_an_invalid_request_for_events_is_refused_by_its_field(
    board: Board, address: str, status: int, code: str, field: str | None
) -> None:
    """SAFE-05"""
    answer = await board.http.get(f"{API}/{address.format(await board.session())}")
    problem = answer.json()
    assert (answer.status_code, problem["code"], problem.get("field")) == (status, code, field)
