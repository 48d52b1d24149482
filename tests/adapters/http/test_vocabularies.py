"""The facts of a session as events of the Agent UI and the Subagents specifications."""

from __future__ import annotations

import json
from typing import get_args

import pytest

from callboard.contracts.vocabulary import EventClass
from tests.adapters.http.following import following
from tests.adapters.http.rig import API, Board


async def test_a_session_is_told_in_agent_ui_events_by_the_sequence_of_its_facts(board: Board) -> None:
    """COM-14: from its first fact, and from a later one on the same events without a gap or a repeat."""
    session = await board.session()
    async with following(board.http, f"sessions/{session}/events", vocabulary="agent_ui") as follower:
        first = [await follower.event() for _ in range(8)]
    assert {event.event for event in first} <= set(get_args(EventClass))
    told = [json.loads(event.data) for event in first]
    assert told[0]["type"] == "session.opened"
    assert {event["sessionId"] for event in told} == {session}
    numbers = [event["sequence"] for event in told]
    assert numbers == sorted(numbers)
    # Only the last event of a fact moves the place to go on from: who saw some of them is told all of them again.
    places = [int(event.id or 0) for event in first[:-1]]
    assert places == [
        number if number != following_one else previous
        for number, following_one, previous in zip(numbers, numbers[1:], [0, *places], strict=False)
    ]

    after = numbers[3]
    async with following(board.http, f"sessions/{session}/events", vocabulary="agent_ui", after=after) as follower:
        later = json.loads((await follower.event()).data)
    assert later == next(event for event in told if event["sequence"] > after)


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
async def test_what_cannot_be_told_is_refused_by_name(
    board: Board, address: str, status: int, code: str, field: str | None
) -> None:
    """SAFE-05"""
    answer = await board.http.get(f"{API}/{address.format(await board.session())}")
    problem = answer.json()
    assert (answer.status_code, problem["code"], problem.get("field")) == (status, code, field)
