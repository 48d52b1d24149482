"""Numbers of events.

While a client follows, facts and live pieces are numbered once for all clients. Otherwise only
partial text is kept.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

import msgspec

from callboard.contracts.live import Frame, Partial, build_partial_key
from callboard.contracts.ports.store import Arrival, FactLog
from callboard.projection.emit.agentruns import RunEvent, build_frame_events, build_partial_event, build_run_events

log = logging.getLogger(__name__)

#: Bits of a fact's block, and of one process's share of it. The first numbers of a block are for
#: the fact's own events. Each process after the fact has its own share of the rest, so that no
#: number is used twice.
BLOCK_BITS = 22
SHARE_BITS = 18
FACT_NUMBERS = 16
#: Number of facts per read.
PAGE = 500
#: Bytes of newest events in memory.
MAX_BYTES = 2_000_000
#: Facts that end a partial text.
_TEXT_ENDS = frozenset({"message.text", "message.interrupted"})
_encoder = msgspec.json.Encoder()


class NumberedEvent(msgspec.Struct, frozen=True):
    """An event with its number, encoded."""

    seq: int
    workspace: str
    data: bytes


class NumberedPartial(msgspec.Struct):
    """A partial text with a number. `seq` is the number of the newest Token in it."""

    stream: str
    first: Frame
    texts: list[str]
    seq: int = 0

    def build_event(self) -> RunEvent:
        self.texts = ["".join(self.texts)]
        return build_partial_event(
            self.stream, Partial(kind=self.first.kind, scope=self.first.scope, text=self.texts[0], tool=self.first.tool)
        )


class _HeadMoved(msgspec.Struct, frozen=True):
    """Facts of a stream are durable and ended these parts."""

    stream: str
    ends: tuple[str, ...]


class _FrameArrived(msgspec.Struct, frozen=True):
    stream: str
    frame: Frame


def compute_first_number(position: int) -> int:
    """Return the first number of a position's block."""
    return position << BLOCK_BITS


def find_live_range(position: int, behind: int) -> tuple[int, int]:
    """Return the first live number at a position and the one after the last.

    Args:
        behind: Number of writers since the writer of the fact. Writers after the last share use it
            together, because a writer adds a fact before it sends live events.
    """
    behind = min(behind, (1 << BLOCK_BITS - SHARE_BITS) - 1)
    first = compute_first_number(position) + (behind << SHARE_BITS)
    return first + (0 if behind else FACT_NUMBERS), first + (1 << SHARE_BITS)


def find_position(seq: int) -> int:
    """Return the position whose block contains a number."""
    return seq >> BLOCK_BITS


def encode(seq: int, event: RunEvent) -> bytes:
    """Return the event as one server-sent event: its number is the id, its type the name."""
    body = _encoder.encode({"seq": seq, "event": event})
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (seq, event.type.encode(), body)


def number_fact_events(arrival: Arrival) -> list[tuple[int, RunEvent]]:
    """Return the events of a fact with their numbers."""
    first = compute_first_number(arrival.position)
    return [(first + index, event) for index, event in enumerate(build_run_events(arrival.record))]


class RecentEvents:
    """The newest events. All events after `base` are in memory."""

    def __init__(self) -> None:
        self.base = 0
        self._entries: deque[NumberedEvent] = deque()
        self._size = 0
        self._news = asyncio.Event()

    def begin(self, base: int) -> None:
        """Drop all events. New ones are after `base`."""
        self._entries.clear()
        self._size = 0
        self.base = base

    def push(self, entry: NumberedEvent) -> None:
        self._entries.append(entry)
        self._size += len(entry.data)
        while self._size > MAX_BYTES and len(self._entries) > 1:
            dropped = self._entries.popleft()
            self._size -= len(dropped.data)
            self.base = dropped.seq
        self.wake()

    def read_after(self, seq: int) -> list[NumberedEvent] | None:
        """Return the events after a number; None if some are no longer in memory."""
        if seq < self.base:
            return None
        entries: list[NumberedEvent] = []
        for entry in reversed(self._entries):
            if entry.seq <= seq:
                break
            entries.append(entry)
        entries.reverse()
        return entries

    async def wait(self) -> None:
        """Wait for more events."""
        await self._news.wait()

    def wake(self) -> None:
        event, self._news = self._news, asyncio.Event()
        event.set()


class EventOrder:
    """Numbers events. Implements `Listener`.

    `last` is the newest assigned number, `position` the position of the newest numbered fact.
    """

    def __init__(
        self, facts: Callable[[], FactLog], find_workspace: Callable[[str], Awaitable[str]], epoch: Callable[[], int]
    ) -> None:
        """Create the order.

        Args:
            facts: Returns the fact log.
            find_workspace: Returns the workspace of a stream; empty if it has none.
            epoch: Returns this writer's epoch.
        """
        self._facts = facts
        self._epoch = epoch
        self._end_of_share = 0
        self.find_workspace = find_workspace
        self.position = 0
        self.last = 0
        self._followers = 0
        self._active = False
        self._ready: asyncio.Future[None] | None = None
        self._task: asyncio.Task[None] | None = None
        self._inbox: deque[_HeadMoved | _FrameArrived] = deque()
        self._waker = asyncio.Event()
        self.recent = RecentEvents()
        self._partials: dict[tuple[str, str], NumberedPartial] = {}
        self._ended_parts: set[tuple[str, str]] = set()
        self._failure: BaseException | None = None

    def receive_facts(self, stream: str, ends: Sequence[str]) -> None:
        """Receive durable facts of a stream."""
        if self._active:
            self._inbox.append(_HeadMoved(stream, tuple(ends)))
            self._waker.set()
        else:
            for key in ends:
                self._partials.pop((stream, key), None)

    def receive_frame(self, stream: str, frame: Frame) -> None:
        """Receive a piece of a part."""
        if self._active:
            self._inbox.append(_FrameArrived(stream, frame))
            self._waker.set()
        else:
            self._extend(stream, frame)

    @asynccontextmanager
    async def follow(self) -> AsyncGenerator[None]:
        """Number all events while the context is open."""
        self._followers += 1
        try:
            if self._task is None:
                self._ready = asyncio.get_running_loop().create_future()
                self._task = asyncio.create_task(self._run(self._ready))
            if self._ready is not None:
                await asyncio.shield(self._ready)
            yield
        finally:
            self._followers -= 1
            if self._followers == 0:
                self._suspend()

    def assign_number(self) -> int:
        """Return a number for an event of a single client."""
        self.last += 1
        return self.last

    def list_partial_texts(self) -> list[tuple[int, str, RunEvent]]:
        """Return the partial texts with their numbers and streams, in order."""
        texts = [(partial.seq, partial.stream, partial.build_event()) for partial in self._partials.values()]
        return sorted(texts, key=lambda entry: entry[0])

    async def wait(self) -> None:
        """Wait for more events."""
        if self._failure is not None:
            raise self._failure
        await self.recent.wait()

    async def _run(self, ready: asyncio.Future[None]) -> None:
        try:
            self._failure = None
            self._active = True
            self.position = await self._facts().read_newest_position()
            newest = await self._facts().read_arrivals(after=self.position - 1, limit=1)
            written = newest[0].record.header.epoch if newest else 0
            first, self._end_of_share = find_live_range(self.position, self._epoch() - written)
            self.last = max(self.last, first - 1)
            for partial in self._partials.values():
                partial.seq = self.assign_number()
            self.recent.begin(self.last)
            ready.set_result(None)
            while True:
                while self._inbox:
                    # Remove it after it was applied: a cancellation must leave it in the inbox.
                    await self._apply(self._inbox[0])
                    self._inbox.popleft()
                self._waker.clear()
                await self._waker.wait()
        except asyncio.CancelledError:
            raise
        except BaseException as error:
            log.exception("the numbering of workspace events stopped")
            self._failure = error
            if not ready.done():
                ready.set_exception(error)
            self.recent.wake()

    def _suspend(self) -> None:
        """Apply the waiting items without numbers, because no client follows."""
        if self._task is not None:
            self._task.cancel()
        self._task = self._ready = None
        self._active = False
        while self._inbox:
            item = self._inbox.popleft()
            if isinstance(item, _FrameArrived):
                self._extend(item.stream, item.frame)
            else:
                self._end_parts(item)
        self._ended_parts.clear()

    async def _apply(self, item: _HeadMoved | _FrameArrived) -> None:
        if isinstance(item, _FrameArrived):
            await self._number_piece(item)
            return
        while arrivals := await self._facts().read_arrivals(after=self.position, limit=PAGE):
            for arrival in arrivals:
                await self._number_fact(arrival)
            if len(arrivals) < PAGE:
                break
        self._end_parts(item)

    async def _number_fact(self, arrival: Arrival) -> None:
        record = arrival.record
        workspace = await self.find_workspace(record.stream)
        self.position = arrival.position
        if record.header.type in _TEXT_ENDS:
            part = (record.stream, build_partial_key("text", record.scope))
            self._partials.pop(part, None)
            self._ended_parts.add(part)
        for seq, event in number_fact_events(arrival):
            self.recent.push(NumberedEvent(seq, workspace, encode(seq, event)))
        first, self._end_of_share = find_live_range(arrival.position, self._epoch() - record.header.epoch)
        self.last = first - 1

    async def _number_piece(self, item: _FrameArrived) -> None:
        """Number a piece. Skip it if its part has ended or the block is full: the final Message contains it."""
        workspace = await self.find_workspace(item.stream)
        if (item.stream, build_partial_key(item.frame.kind, item.frame.scope)) in self._ended_parts:
            return
        partial = self._extend(item.stream, item.frame)
        for event in build_frame_events(item.stream, item.frame):
            if self.last + 1 >= self._end_of_share:
                return
            seq = self.assign_number()
            if partial is not None:
                partial.seq = seq
            self.recent.push(NumberedEvent(seq, workspace, encode(seq, event)))

    def _extend(self, stream: str, frame: Frame) -> NumberedPartial | None:
        if frame.kind != "text":
            return None
        part = (stream, build_partial_key(frame.kind, frame.scope))
        partial = self._partials.get(part)
        if partial is None:
            partial = self._partials[part] = NumberedPartial(stream, frame, [])
        partial.texts.append(frame.text)
        return partial

    def _end_parts(self, item: _HeadMoved) -> None:
        for key in item.ends:
            self._partials.pop((item.stream, key), None)
            self._ended_parts.discard((item.stream, key))
