"""One client of a workspace's events: what it missed, from the log; then what comes."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from typing import Any

from callboard.contracts.ports.store import FactLog
from callboard.projection.emit.agentruns import RunEvent

from .order import PAGE, EventOrder, encode, fact_events, first_number, place_of

#: A client that is further behind than so many facts of the store begins anew.
FARTHEST = 20_000


class EventStream:
    """Gives clients their events. `state` tells what a client that begins shows first."""

    def __init__(self, order: EventOrder, facts: Callable[[], FactLog], state: Callable[[str], dict[str, Any]]) -> None:
        self._order = order
        self._facts = facts
        self._state = state

    async def follow(self, workspace: str, after: int | None) -> AsyncGenerator[bytes]:
        """Encoded events of a workspace after a number; without one, or where that leads nowhere, from the present state."""
        order = self._order
        async with order.followed():
            if after is None or not self._leads_on(after):
                place, chunk = await self._begin(workspace, gap=after is not None)
                yield chunk
            else:
                place = after
            while True:
                found = order.recent.since(place)
                if found is None:
                    target = order.last
                    async for chunk in self._missed(workspace, place, target):
                        yield chunk
                    place = target
                    continue
                if found:
                    place = found[-1].seq
                    if chunk := b"".join(one.data for one in found if one.workspace == workspace):
                        yield chunk
                    continue
                await order.wait()

    def _leads_on(self, after: int) -> bool:
        return 0 <= self._order.place - place_of(after) <= FARTHEST

    async def _begin(self, workspace: str, *, gap: bool) -> tuple[int, bytes]:
        """The texts so far, and the state: what a client that knows nothing shows first. It is then at that number."""
        texts, seq = self._order.texts_so_far(), self._order.next_number()
        state = RunEvent(type="StateUpdated", data={"change": "snapshot", "gap": gap, **self._state(workspace)})
        events = await self._of(workspace, texts)
        return seq, b"".join([*(encode(number, event) for number, event in events), encode(seq, state)])

    async def _missed(self, workspace: str, after: int, until: int) -> AsyncGenerator[bytes]:
        """What came after one number up to another: facts from the log, and each text that is being made as it is so far."""
        making = self._order.texts_so_far()
        texts = await self._of(workspace, [one for one in making if one[0] > after])
        place = place_of(after) - 1
        while found := await self._facts().arrivals(after=max(place, 0), limit=PAGE):
            chunk = bytearray()
            for arrival in found:
                if first_number(arrival.place) > until:
                    break
                if await self._order.find_workspace(arrival.record.stream) != workspace:
                    continue
                while texts and texts[0][0] < first_number(arrival.place):
                    chunk += encode(*texts.pop(0))
                for seq, event in fact_events(arrival):
                    if seq > after:
                        chunk += encode(seq, event)
            if chunk:
                yield bytes(chunk)
            place = found[-1].place
            if len(found) < PAGE or first_number(place) > until:
                break
        if texts:
            yield b"".join(encode(seq, event) for seq, event in texts)

    async def _of(self, workspace: str, texts: list[tuple[int, str, RunEvent]]) -> list[tuple[int, RunEvent]]:
        return [(seq, event) for seq, stream, event in texts if await self._order.find_workspace(stream) == workspace]
