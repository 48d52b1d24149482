"""The nine events and their order."""

from __future__ import annotations

import asyncio
from typing import get_args

from callboard.projection.emit.run_emission import PHASES, RunEventName
from tests.adapters.http.agentruns.crew import (
    Event,
    check_refusal,
    read_events,
    release,
    runs_ended,
    send_write,
    texts,
    wait_for_fact,
)
from tests.adapters.http.rigs.server import Board


def durable(events: list[Event]) -> list[Event]:
    """Return the events of facts, without those sent to one client at its start."""
    return [event for event in events if "event_id" in event]


def numbers(events: list[Event]) -> list[int]:
    return [event["seq"] for event in events]


async def test_two_clients_see_the_same_numbers_for_the_same_events(team: Board):
    """MAR-14: the clients start at different times."""
    first = asyncio.create_task(read_events(team.http, runs_ended(3), 0))
    started = await send_write(team, "/api/chat", message="team")
    await wait_for_fact(team, started["session_id"], "subagent.completed")
    second = asyncio.create_task(read_events(team.http, runs_ended(3), 0))
    release(team)
    mine, theirs = await first, await second

    assert durable(mine) == durable(theirs)
    for events in (mine, theirs):
        assert numbers(events) == sorted(set(numbers(events)))
    live = {event["seq"]: event for event in mine if "event_id" not in event and not event["data"].get("so_far")}
    for event in theirs:
        if event["seq"] in live and not event["data"].get("so_far"):
            assert event == live[event["seq"]]
    assert texts(mine) == texts(theirs)
    assert sorted(texts(mine).values()) == ["Both are done.", "Quick is done.", "Slow is done.", "Slow so far. "]


async def test_a_client_that_reconnects_repeatedly_sees_no_gap_and_no_repeat(team: Board):
    """MAR-14, COM-14"""
    whole = asyncio.create_task(read_events(team.http, runs_ended(1), 0))
    await send_write(team, "/api/chat", message="alone")
    received: list[Event] = []
    while not runs_ended(1)(received):
        after = received[-1]["seq"] if received else 0
        received += await read_events(team.http, lambda events: len(events) >= 3 or runs_ended(1)(events), after)
    every = await whole

    assert durable(received) == durable(every)
    assert numbers(received) == sorted(set(numbers(received)))
    assert texts(received) == texts(every)
    assert list(texts(received).values()) == ["word " * 60]


async def test_a_returning_client_gets_the_text_so_far_in_place_of_tokens(team: Board):
    """COM-14: its number is the number of the newest token in it."""
    started = await send_write(team, "/api/chat", message="hold")
    received = await read_events(team.http, lambda events: events[-1]["type"] == "Token", 0)
    await wait_for_fact(team, started["session_id"], "model.requested")
    again = asyncio.create_task(read_events(team.http, runs_ended(1), durable(received)[-1]["seq"], header=False))
    fresh = await read_events(team.http, lambda events: events[-1]["data"].get("change") == "snapshot")
    release(team)
    rest = await again

    (so_far,) = [event for event in fresh if event["type"] == "Token"]
    assert so_far["data"] == {"offset": 0, "text": "Half of it. ", "so_far": True}
    state = fresh[-1]["data"]
    assert state["gap"] is False
    assert state["repo_path"] == str(team.folder)
    assert [session["session_id"] for session in state["sessions"]] == [started["session_id"]]
    assert list(texts(rest).values()) == ["Half of it. ", "The rest."]


async def test_an_unknown_event_number_starts_again_and_reports_it(team: Board):
    (state,) = await read_events(team.http, lambda events: len(events) == 1, 2**52)

    assert state["type"] == "StateUpdated"
    assert state["data"]["gap"] is True


async def test_an_invalid_event_number_is_refused_by_name(team: Board):
    """SAFE-05"""
    by_header = await team.http.get("/api/events", headers={"Last-Event-ID": "7.3"})
    by_query = await team.http.get("/api/events", params={"after": "-1"})

    assert (await check_refusal(by_header, 400))["field"] == "Last-Event-ID"
    assert (await check_refusal(by_query, 400))["field"] == "after"


async def test_one_message_is_in_progress_for_each_agent_and_its_final_text_replaces_it(team: Board):
    """MAR-17: status, tools and tokens name the message of their run."""
    following = asyncio.create_task(read_events(team.http, runs_ended(1), 0))
    await send_write(team, "/api/chat", message="write", permission_mode="full")
    events = await following
    runs = {event["run_id"] for event in events if "run_id" in event}
    gathered = [event for event in events if event["type"] in ("AgentStatus", "Token")]
    finals = [event for event in events if event["type"] == "Message" and event["data"]["role"] == "assistant"]

    assert len(runs) == 1
    assert {event["message_id"] for event in gathered} == runs
    assert [(message["message_id"], message["data"]["text"]) for message in finals] == [(*runs, "Written.")]
    states = [(event["data"]["state"], event["data"]["detail"]) for event in gathered if event["type"] == "AgentStatus"]
    assert ("model_loading", "Model loading") in states
    assert ("calling_tool", "Calling Write") in states
    assert states[-1] == ("idle", "Completed")


async def test_a_team_emits_only_the_nine_event_types_of_the_specification(team: Board):
    """MAR-14: spawning, results, queue and outcomes come in the order of the facts."""
    following = asyncio.create_task(read_events(team.http, runs_ended(4), 0))
    started = await send_write(team, "/api/chat", message="team")
    await send_write(team, "/api/chat", message="and then", session_id=started["session_id"])
    release(team)
    events = await following
    names = [event["type"] for event in events]

    assert set(names) == set(get_args(RunEventName)) - {"SettingsUpdated"}
    assert names.count("SubagentSpawned") == names.count("SubagentResult") == 2
    results = [event["data"] for event in events if event["type"] == "SubagentResult"]
    assert sorted(result["result"] for result in results) == ["Quick is done.", "Slow so far. \n\nSlow is done."]
    assert {event["data"]["status"] for event in events if event["type"] == "Outcome"} == {"completed"}
    for event in events:
        if event["type"] == "AgentStatus":
            state, detail = PHASES[event["data"]["phase"]]
            assert event["data"]["state"] == state
            assert event["data"]["detail"] == detail.format(tool=event["data"].get("tool", ""))
