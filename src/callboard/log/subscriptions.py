"""Subscriptions to streams. Each is a cursor that is woken by new facts; there are no queues."""

from __future__ import annotations

import asyncio
import contextlib
from collections import OrderedDict, deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from itertools import islice
from typing import Protocol

from callboard.contracts.errors import Refusal
from callboard.contracts.ports.store import Head
from callboard.contracts.record import Record

#: The number of newest facts of a followed stream that stay in memory.
TAIL = 512
#: The largest batch of a follower.
MAX_BATCH = 500
#: Streams without followers of which the newest batch stays in memory: a client that changed a stream often follows it next.
MAX_KEPT_BATCHES = 32
#: Largest size of the facts of a batch that stays in memory, in bytes: 4 MiB for all.
MAX_KEPT_BYTES = 128 * 1024


class FactReader(Protocol):
    """Reader of a stream's facts."""

    def __call__(self, stream: str, /, *, after: int, limit: int) -> Awaitable[tuple[Record, ...]]: ...


class _Stream:
    """The followers of a stream, its newest facts, and its end; None while the end is unknown."""

    def __init__(self) -> None:
        self.tail: deque[Record] = deque(maxlen=TAIL)
        self.end: int | None = None
        self.wakers: set[asyncio.Event] = set()

    def wake(self) -> None:
        for waker in self.wakers:
            waker.set()


class Subscriptions:
    """The subscriptions of a store.

    Args:
        read: Reads facts of the store.
        head: Returns the end of a stream.
        poll: Interval in which followers read the store, in seconds. Needed if another process writes it.
    """

    def __init__(self, read: FactReader, head: Callable[[str], Awaitable[Head]], poll: float | None = None) -> None:
        self._read = read
        self._head = head
        self._poll = poll
        self._streams: dict[str, _Stream] = {}
        self._newest_batches: OrderedDict[str, tuple[Record, ...]] = OrderedDict()
        self._closed = False

    def publish(self, stream: str, records: tuple[Record, ...]) -> None:
        """Send durable facts to the followers of the stream. Call it in order."""
        if not records:
            return
        followed = self._streams.get(stream)
        if followed is None:
            self._keep_newest(stream, records)
            return
        if followed.tail and followed.tail[-1].sequence + 1 != records[0].sequence:
            followed.tail.clear()
        followed.tail.extend(records)
        followed.end = records[-1].sequence
        followed.wake()

    def reset(self, stream: str) -> None:
        """Forget the facts of a stream that lost some of them, and wake its followers."""
        self._newest_batches.pop(stream, None)
        followed = self._streams.get(stream)
        if followed is not None:
            followed.tail.clear()
            followed.end = None
            followed.wake()

    def close(self) -> None:
        """End all subscriptions."""
        self._closed = True
        for followed in self._streams.values():
            followed.wake()

    async def follow(self, stream: str, after: int) -> AsyncGenerator[tuple[Record, ...], None]:
        """Yield the stored facts after a sequence, then new ones.

        Raises:
            Refusal: `gap` if the stream ends before `after`, also after a deletion.
        """
        followed = self._streams.get(stream)
        if followed is None:
            followed = self._streams[stream] = _Stream()
            if newest := self._newest_batches.pop(stream, None):
                followed.tail.extend(newest)
                followed.end = newest[-1].sequence
        waker = asyncio.Event()
        followed.wakers.add(waker)
        try:
            while not self._closed:
                waker.clear()
                records = _select_tail(followed.tail, after)
                if not records and followed.end != after:
                    records = await self._read(stream, after=after, limit=MAX_BATCH)
                    if not records:
                        await self._check_end(stream, after)
                    # Facts that were published during the read, or a deletion, have set the waker.
                    if self._poll is None and len(records) < MAX_BATCH and not waker.is_set():
                        followed.end = records[-1].sequence if records else after
                if records:
                    after = records[-1].sequence
                    yield records
                else:
                    await self._wait(waker)
        finally:
            followed.wakers.discard(waker)
            if not followed.wakers:
                self._streams.pop(stream, None)

    def _keep_newest(self, stream: str, records: tuple[Record, ...]) -> None:
        self._newest_batches.pop(stream, None)
        if sum([len(record.payload or b"") for record in records]) <= MAX_KEPT_BYTES:
            self._newest_batches[stream] = records
            if len(self._newest_batches) > MAX_KEPT_BATCHES:
                self._newest_batches.popitem(last=False)

    async def _check_end(self, stream: str, after: int) -> None:
        end = (await self._head(stream)).sequence
        if end < after:
            raise Refusal(
                "gap",
                f"The stream {stream} ends at {end}, before {after}.",
                hint="Read a snapshot of the stream and follow it from there.",
            )

    async def _wait(self, waker: asyncio.Event) -> None:
        if self._poll is None:
            await waker.wait()
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._poll):
                await waker.wait()


def _select_tail(tail: deque[Record], after: int) -> tuple[Record, ...]:
    if not tail or tail[-1].sequence <= after or tail[0].sequence > after + 1:
        return ()
    start = after + 1 - tail[0].sequence
    return tuple(islice(tail, start, start + MAX_BATCH))
