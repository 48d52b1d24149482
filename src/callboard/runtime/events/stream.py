"""One client of a workspace's events: missed events from the log, then live ones."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from typing import Any

from callboard.contracts.ports.store import FactLog
from callboard.projection.emit.agentruns import RunEvent

from .order import PAGE, EventOrder, compute_first_number, encode, find_position, number_fact_events

#: Number of facts by which a client may lag before it starts again.
MAX_LAG = 20_000


class EventStream:
    """Streams events to clients. `state` returns the workspace's current state for a new client."""

    def __init__(self, order: EventOrder, facts: Callable[[], FactLog], state: Callable[[str], dict[str, Any]]) -> None:
        self._order = order
        self._facts = facts
        self._state = state

    async def follow(self, workspace: str, after: int | None) -> AsyncGenerator[bytes]:
        """Yield the encoded events of a workspace after a number. Without a usable number, start with the current state."""
        order = self._order
        async with order.follow():
            if after is None or not self._can_resume(after):
                position, chunk = await self._snapshot(workspace, gap=after is not None)
                yield chunk
            else:
                position = after
            while True:
                entries = order.recent.read_after(position)
                if entries is None:
                    target = order.last
                    async for chunk in self._read_missed(workspace, position, target):
                        yield chunk
                    position = target
                    continue
                if entries:
                    position = entries[-1].seq
                    if chunk := b"".join(entry.data for entry in entries if entry.workspace == workspace):
                        yield chunk
                    continue
                await order.wait()

    def _can_resume(self, after: int) -> bool:
        return 0 <= self._order.position - find_position(after) <= MAX_LAG

    async def _snapshot(self, workspace: str, *, gap: bool) -> tuple[int, bytes]:
        """Return the partial texts and the state for a new client, and the number that it then has."""
        texts, seq = self._order.list_partial_texts(), self._order.assign_number()
        state = RunEvent(type="StateUpdated", data={"change": "snapshot", "gap": gap, **self._state(workspace)})
        events = await self._select(workspace, texts)
        return seq, b"".join([*(encode(number, event) for number, event in events), encode(seq, state)])

    async def _read_missed(self, workspace: str, after: int, until: int) -> AsyncGenerator[bytes]:
        """Yield the events between two numbers: facts from the log, and each partial text so far."""
        partials = self._order.list_partial_texts()
        texts = await self._select(workspace, [text for text in partials if text[0] > after])
        position = find_position(after) - 1
        while arrivals := await self._facts().read_arrivals(after=max(position, 0), limit=PAGE):
            chunk = bytearray()
            for arrival in arrivals:
                if compute_first_number(arrival.position) > until:
                    break
                if await self._order.find_workspace(arrival.record.stream) != workspace:
                    continue
                while texts and texts[0][0] < compute_first_number(arrival.position):
                    chunk += encode(*texts.pop(0))
                for seq, event in number_fact_events(arrival):
                    if seq > after:
                        chunk += encode(seq, event)
            if chunk:
                yield bytes(chunk)
            position = arrivals[-1].position
            if len(arrivals) < PAGE or compute_first_number(position) > until:
                break
        if texts:
            yield b"".join(encode(seq, event) for seq, event in texts)

    async def _select(self, workspace: str, texts: list[tuple[int, str, RunEvent]]) -> list[tuple[int, RunEvent]]:
        return [(seq, event) for seq, stream, event in texts if await self._order.find_workspace(stream) == workspace]
