"""Independent clients of the streams, with another parser and their own reduction."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import httpx2

from tests.adapters.http.rigs.server import API

Rows = dict[str, dict[str, dict[str, Any]]]


class Follower:
    """An open stream."""

    def __init__(self, answer: httpx2.Response) -> None:
        self.answer = answer
        self._events = aiter(httpx2.EventSource(answer, max_event_size=None))

    async def event(self) -> httpx2.ServerSentEvent:
        """Return the next event."""
        return await anext(self._events)

    async def events(self, count: int) -> list[httpx2.ServerSentEvent]:
        """Return the next events."""
        return [await self.event() for _ in range(count)]

    async def ended(self) -> bool:
        """Return True if the server ended the stream after the events read."""
        return await anext(self._events, None) is None


@asynccontextmanager
async def open_stream(
    client: httpx2.AsyncClient, path: str, *, last: str | None = None, **params: Any
) -> AsyncGenerator[Follower]:
    """Open a stream after a last event id."""
    headers = {"Accept": "text/event-stream"} | ({} if last is None else {"Last-Event-ID": last})
    async with client.stream("GET", f"{API}/{path}", headers=headers, params=params) as answer:
        assert answer.status_code == 200, await answer.aread()
        yield Follower(answer)


class View:
    """A client's rows by panel and key. It fails if an event repeats or does not follow."""

    def __init__(self) -> None:
        self.rows: Rows = {}
        self.cursor: str | None = None
        self.snapshots = 0

    def take(self, event: httpx2.ServerSentEvent) -> None:
        """Apply an event of row operations."""
        batch = json.loads(event.data)
        assert batch["kind"] == event.event
        assert batch["cursor"] == event.id
        if event.event == "snapshot":
            self.rows = {}
            self.snapshots += 1
        else:
            assert _place(event.id) > _place(self.cursor), "an event came twice, or out of order"
        for op in batch["ops"]:
            self._apply(op)
        self.cursor = event.id

    def _apply(self, op: dict[str, Any]) -> None:
        panel = self.rows.setdefault(op["panel"], {})
        match op["op"]:
            case "upsert":
                panel[op["row"]["key"]] = op["row"]
            case "remove":
                panel.pop(op["key"], None)
            case "append":
                text = panel[op["key"]].setdefault(op["field"], {"text": ""})
                text["text"] = text.get("text", "")
                assert len(text["text"]) == op["offset"], "a piece is missing, or came twice"
                text["text"] += op["text"]
            case other:
                raise AssertionError(other)

    def shows(self, panel: str) -> list[dict[str, Any]]:
        """Return the rows of a panel."""
        return list(self.rows.get(panel, {}).values())


def _place(cursor: str | None) -> tuple[int, ...]:
    assert cursor is not None
    return tuple(int(number) for number in cursor.split("."))
