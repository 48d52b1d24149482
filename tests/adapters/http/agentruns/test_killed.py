"""The order of a workspace's events across a kill of the process."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import httpx2
import msgspec

from callboard.client import Endpoint
from tests.adapters.http.agentruns.crew import Event, read_events, runs_ended, texts
from tests.app.rigs.product import Product, says

HALF: list[dict[str, Any]] = [{"repeat": {"text": "word ", "times": 20}, "delay_ms": 1}, {"wait_for": "never"}]


def client(product: Product) -> httpx2.AsyncClient:
    """Return a client of the serving process."""
    endpoint = msgspec.json.decode((product.home / "endpoint.json").read_bytes(), type=Endpoint)
    return httpx2.AsyncClient(
        base_url=endpoint.url, headers={"Authorization": f"Bearer {endpoint.token}"}, timeout=60, trust_env=False
    )


async def at_work(http: httpx2.AsyncClient, message: str, after: int | None, drops: bool) -> list[Event]:
    """Return the events up to the complete text. With `drops` the client reconnects after every few."""
    received: list[Event] = []

    def whole(events: list[Event]) -> bool:
        return any(text.count("word") == 20 for text in texts([*received, *events]).values())

    while not whole([]):
        position = received[-1]["seq"] if received else after
        received += await read_events(http, lambda events: whole(events) or (drops and len(events) >= 4), position)
    return received


def test_event_numbers_rise_after_a_kill_without_false_repeats(tmp_path: Path):
    """MAR-14: two clients, one of which reconnects repeatedly, agree before and after a kill -9.

    Each continues from its last number, and new numbers are greater than all earlier ones.
    """
    product = Product(tmp_path).plays(
        {"match": [{"text": "half", "calls": [HALF]}, {"text": "", "calls": [says("It continues.")]}]}
    )

    async def before() -> tuple[list[Event], list[Event]]:
        async with client(product) as http:
            steady = asyncio.create_task(at_work(http, "half", 0, False))
            dropping = asyncio.create_task(at_work(http, "half", 0, True))
            answer = await http.post("/api/chat", json={"message": "half"})
            assert answer.status_code == 200, answer.text
            return await steady, await dropping

    async def after(steady_after: int, dropping_after: int, session: str) -> tuple[list[Event], list[Event]]:
        async with client(product) as http:
            over = runs_ended(2)
            first = asyncio.create_task(read_events(http, over, steady_after))
            second = asyncio.create_task(read_events(http, over, dropping_after))
            answer = await http.post("/api/chat", json={"message": "go on", "session_id": session})
            assert answer.status_code == 200, answer.text
            assert answer.json()["status"] == "started"
            return await first, await second

    with product.up() as (running, _):
        complete, dropped = asyncio.run(before())
        running.process.kill()
        running.wait()
    session = next(event["session_id"] for event in complete if event.get("session_id"))
    with product.up():
        rest, rest_of_other = asyncio.run(after(complete[-1]["seq"], dropped[-1]["seq"], session))

    for events in ([*complete, *rest], [*dropped, *rest_of_other]):
        numbers = [event["seq"] for event in events]
        assert numbers == sorted(set(numbers)), "a number came twice, or went back"
    facts = [
        [event for event in events if "event_id" in event]
        for events in ([*complete, *rest], [*dropped, *rest_of_other])
    ]
    assert facts[0] == facts[1]
    named = [event["event_id"] for event in facts[0] if event.get("session_id") == session]
    assert named == sorted(named, key=lambda name: int(name.partition("/")[2])), "facts of a session are out of order"
    assert texts([*complete, *rest]) == texts([*dropped, *rest_of_other])
    outcomes = [event["data"] for event in facts[0] if event["type"] == "Outcome"]
    assert [(outcome["status"], outcome["detail"]) for outcome in outcomes] == [("failed", "crash"), ("completed", "")]
    assert list(texts([*complete, *rest]).values())[-1] == "It continues."
