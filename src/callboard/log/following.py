"""Subscriptions: each is a cursor into the stream, woken when there is more, and never a queue."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from itertools import islice

from ..contracts.errors import Refusal
from ..contracts.record import Record

#: How many of the newest facts of a stream are kept at hand while somebody follows it.
TAIL = 512
#: The largest batch that a follower gets at once.
BATCH = 500

Read = Callable[[str, int, int], Awaitable[tuple[Record, ...]]]
HeadOf = Callable[[str], Awaitable[int]]


class _Stream:
    """The followers of one stream and the newest facts for them."""

    def __init__(self) -> None:
        self.tail: deque[Record] = deque(maxlen=TAIL)
        self.wakers: set[asyncio.Event] = set()

    def wake(self) -> None:
        for waker in self.wakers:
            waker.set()


class Following:
    """Who follows what. `read(stream, after, limit)` and `head(stream)` ask the store.

    With `poll` followers look by themselves every so many seconds: another process writes, and nobody here is told.
    """

    def __init__(self, read: Read, head: HeadOf, poll: float | None = None) -> None:
        self._read = read
        self._head = head
        self._poll = poll
        self._streams: dict[str, _Stream] = {}
        self._closed = False

    def appended(self, stream: str, records: tuple[Record, ...]) -> None:
        """Facts became durable; called in their order."""
        followed = self._streams.get(stream)
        if followed is None or not records:
            return
        if followed.tail and followed.tail[-1].sequence + 1 != records[0].sequence:
            followed.tail.clear()
        followed.tail.extend(records)
        followed.wake()

    def deleted(self, stream: str) -> None:
        """The stream is gone."""
        followed = self._streams.get(stream)
        if followed is not None:
            followed.tail.clear()
            followed.wake()

    def close(self) -> None:
        """Ends every subscription."""
        self._closed = True
        for followed in self._streams.values():
            followed.wake()

    async def follow(self, stream: str, after: int) -> AsyncGenerator[tuple[Record, ...], None]:
        """The facts after a sequence, stored and then to come. Raises Refusal `gap` where the stream ends before `after`,
        as it does when it is deleted."""
        followed = self._streams.setdefault(stream, _Stream())
        waker = asyncio.Event()
        followed.wakers.add(waker)
        try:
            while not self._closed:
                waker.clear()
                records = _from_tail(followed.tail, after)
                if not records and await self._is_more(stream, after):
                    records = await self._read(stream, after, BATCH)
                if records:
                    after = records[-1].sequence
                    yield records
                else:
                    await self._wait(waker)
        finally:
            followed.wakers.discard(waker)
            if not followed.wakers:
                self._streams.pop(stream, None)

    async def _is_more(self, stream: str, after: int) -> bool:
        end = await self._head(stream)
        if end < after:
            raise Refusal(
                "gap",
                f"The stream {stream} ends at {end}; there is nothing after {after}.",
                hint="Take a snapshot of the stream and follow it from there.",
            )
        return end > after

    async def _wait(self, waker: asyncio.Event) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._poll):
                await waker.wait()


def _from_tail(tail: deque[Record], after: int) -> tuple[Record, ...]:
    if not tail or tail[-1].sequence <= after or tail[0].sequence > after + 1:
        return ()
    start = after + 1 - tail[0].sequence
    return tuple(islice(tail, start, start + BATCH))
