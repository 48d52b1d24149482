"""A team as events of the Subagents specification, over HTTP."""

from __future__ import annotations

import json
from typing import get_args

from callboard.contracts.vocabulary import SubagentEventType
from tests.adapters.http.agentruns.crew import release, send_write, wait_for_fact
from tests.adapters.http.rigs.server import Board
from tests.adapters.http.rigs.stream_client import open_stream


async def test_a_team_emits_the_events_of_the_subagents_specification(team: Board):
    """SUB-03: events of children in order, with the ids of the family, stored and then live."""
    session = (await send_write(team, "/api/chat", message="team"))["session_id"]
    await wait_for_fact(team, session, "subagent.completed")
    release(team)
    async with open_stream(team.http, f"sessions/{session}/events", vocabulary="subagents") as follower:
        events = []
        while not events or events[-1].event != "task.completed":
            events.append(await follower.event())
    kinds = [event.event for event in events]
    assert set(kinds) <= set(get_args(SubagentEventType))
    order = ["task.created", "subagent.started", "channel.opened"]
    assert sorted(order, key=kinds.index) == [kind for kind in dict.fromkeys(kinds) if kind in order]
    data = [json.loads(event.data) for event in events]
    assert all(event["sessionId"] == session for event in data)
    assert all(event["subagentId"] and event["taskId"] for event in data if event["type"].startswith("subagent."))
    numbers = [event["sequence"] for event in data]
    assert numbers == sorted(numbers)
