"""Which number an event has. While somebody follows, facts and live pieces are numbered once, for all clients of all
workspaces; while nobody does, only the text in the making is kept."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

import msgspec

from callboard.contracts.live import Frame, Partial, partial_key
from callboard.contracts.ports.store import Arrival, FactLog
from callboard.projection.emit.agentruns import RunEvent, frame_events, partial_event, run_events

log = logging.getLogger(__name__)

#: A fact's block has so many bits. Its first numbers are for the fact's own events; of the rest each process that follows the
#: fact has a share of so many bits, so that two of them never give one number.
BLOCK_BITS = 22
SHARE_BITS = 18
OWN = 16
#: How many facts are read at once.
PAGE = 500
#: How much of the newest events is kept at hand, in bytes.
LARGEST = 2_000_000
#: Facts that end a text in the making.
_TEXT_ENDS = frozenset({"message.text", "message.interrupted"})
_encoder = msgspec.json.Encoder()


class Numbered(msgspec.Struct, frozen=True):
    """An event under its number, encoded for the wire."""

    seq: int
    workspace: str
    data: bytes


class LiveNumbering(msgspec.Struct):
    """A text in the making. `seq` is the number of the newest Token that its text contains."""

    stream: str
    first: Frame
    texts: list[str]
    seq: int = 0

    def so_far(self) -> RunEvent:
        self.texts = ["".join(self.texts)]
        return partial_event(
            self.stream, Partial(kind=self.first.kind, scope=self.first.scope, text=self.texts[0], tool=self.first.tool)
        )


class _HeadMoved(msgspec.Struct, frozen=True):
    """Facts of a stream are durable, and these parts have ended with them."""

    stream: str
    ends: tuple[str, ...]


class _LiveArrived(msgspec.Struct, frozen=True):
    stream: str
    frame: Frame


def first_number(place: int) -> int:
    """The first number of a place."""
    return place << BLOCK_BITS


def live_share(place: int, behind: int) -> tuple[int, int]:
    """The first of the live numbers at a place and the one behind the last, for the process that is the so manieth after the
    one that wrote the fact. Those past the last share have it together: nothing is made before a fact of their own."""
    behind = min(behind, (1 << BLOCK_BITS - SHARE_BITS) - 1)
    first = first_number(place) + (behind << SHARE_BITS)
    return first + (0 if behind else OWN), first + (1 << SHARE_BITS)


def place_of(seq: int) -> int:
    """The place in whose block a number lies."""
    return seq >> BLOCK_BITS


def encode(seq: int, event: RunEvent) -> bytes:
    """The event as one server-sent event: its number is the id, its type the name."""
    body = _encoder.encode({"seq": seq, "event": event})
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (seq, event.type.encode(), body)


def fact_events(arrival: Arrival) -> list[tuple[int, RunEvent]]:
    """The events of a fact under their numbers."""
    first = first_number(arrival.place)
    return [(first + index, event) for index, event in enumerate(run_events(arrival.record))]


class RecentEvents:
    """The newest events, as many as are kept at hand; all after `base` are among them."""

    def __init__(self) -> None:
        self.base = 0
        self._entries: deque[Numbered] = deque()
        self._size = 0
        self._news = asyncio.Event()

    def begin(self, base: int) -> None:
        """Forgets what there was; what comes is after `base`."""
        self._entries.clear()
        self._size = 0
        self.base = base

    def push(self, entry: Numbered) -> None:
        self._entries.append(entry)
        self._size += len(entry.data)
        while self._size > LARGEST and len(self._entries) > 1:
            gone = self._entries.popleft()
            self._size -= len(gone.data)
            self.base = gone.seq
        self.wake()

    def since(self, seq: int) -> list[Numbered] | None:
        """The events after a number, or None where they are not all at hand any more."""
        if seq < self.base:
            return None
        found: list[Numbered] = []
        for entry in reversed(self._entries):
            if entry.seq <= seq:
                break
            found.append(entry)
        found.reverse()
        return found

    async def wait(self) -> None:
        """Waits until there is more."""
        await self._news.wait()

    def wake(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()


class EventOrder:
    """`last` is the newest number that was given, `place` that of the newest fact that was told. Implements `Listener`."""

    def __init__(
        self, facts: Callable[[], FactLog], home: Callable[[str], Awaitable[str]], epoch: Callable[[], int]
    ) -> None:
        """`home` tells which workspace a stream belongs to, empty where it belongs to none; `epoch` is this writer's."""
        self._facts = facts
        self._epoch = epoch
        self._end_of_share = 0
        self.find_workspace = home
        self.place = 0
        self.last = 0
        self._followers = 0
        self._active = False
        self._ready: asyncio.Future[None] | None = None
        self._task: asyncio.Task[None] | None = None
        self._inbox: deque[_HeadMoved | _LiveArrived] = deque()
        self._waker = asyncio.Event()
        self.recent = RecentEvents()
        self._making: dict[tuple[str, str], LiveNumbering] = {}
        self._over: set[tuple[str, str]] = set()
        self._failure: BaseException | None = None

    def facts(self, stream: str, ends: Sequence[str]) -> None:
        """Facts of a stream became durable."""
        if self._active:
            self._inbox.append(_HeadMoved(stream, tuple(ends)))
            self._waker.set()
        else:
            for key in ends:
                self._making.pop((stream, key), None)

    def frame(self, stream: str, frame: Frame) -> None:
        """A piece of a part came."""
        if self._active:
            self._inbox.append(_LiveArrived(stream, frame))
            self._waker.set()
        else:
            self._grow(stream, frame)

    @asynccontextmanager
    async def followed(self) -> AsyncGenerator[None]:
        """As long as this lasts, everything is numbered as it comes."""
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
                self._rest()

    def next_number(self) -> int:
        """A number for what only one client is told."""
        self.last += 1
        return self.last

    def texts_so_far(self) -> list[tuple[int, str, RunEvent]]:
        """The texts in the making with their numbers and streams, in order."""
        found = [(making.seq, making.stream, making.so_far()) for making in self._making.values()]
        return sorted(found, key=lambda one: one[0])

    async def wait(self) -> None:
        """Waits until there is more. Raises what stopped the numbering."""
        if self._failure is not None:
            raise self._failure
        await self.recent.wait()

    async def _run(self, ready: asyncio.Future[None]) -> None:
        try:
            self._failure = None
            self._active = True
            self.place = await self._facts().newest()
            newest = await self._facts().arrivals(after=self.place - 1, limit=1)
            written = newest[0].record.header.epoch if newest else 0
            first, self._end_of_share = live_share(self.place, self._epoch() - written)
            self.last = max(self.last, first - 1)
            for making in self._making.values():
                making.seq = self.next_number()
            self.recent.begin(self.last)
            ready.set_result(None)
            while True:
                while self._inbox:
                    # It leaves only when it was taken: whoever cuts this off finds it there.
                    await self._take(self._inbox[0])
                    self._inbox.popleft()
                self._waker.clear()
                await self._waker.wait()
        except asyncio.CancelledError:
            raise
        except BaseException as error:
            log.exception("the events of workspaces are no longer numbered")
            self._failure = error
            if not ready.done():
                ready.set_exception(error)
            self.recent.wake()

    def _rest(self) -> None:
        """Nobody follows: what waits is taken as it is, without numbers."""
        if self._task is not None:
            self._task.cancel()
        self._task = self._ready = None
        self._active = False
        while self._inbox:
            item = self._inbox.popleft()
            if isinstance(item, _LiveArrived):
                self._grow(item.stream, item.frame)
            else:
                self._end(item)
        self._over.clear()

    async def _take(self, item: _HeadMoved | _LiveArrived) -> None:
        if isinstance(item, _LiveArrived):
            await self._piece(item)
            return
        while found := await self._facts().arrivals(after=self.place, limit=PAGE):
            for arrival in found:
                await self._tell(arrival)
            if len(found) < PAGE:
                break
        self._end(item)

    async def _tell(self, arrival: Arrival) -> None:
        record = arrival.record
        workspace = await self.find_workspace(record.stream)
        self.place = arrival.place
        if record.header.type in _TEXT_ENDS:
            part = (record.stream, partial_key("text", record.scope))
            self._making.pop(part, None)
            self._over.add(part)
        for seq, event in fact_events(arrival):
            self.recent.push(Numbered(seq, workspace, encode(seq, event)))
        first, self._end_of_share = live_share(arrival.place, self._epoch() - record.header.epoch)
        self.last = first - 1

    async def _piece(self, item: _LiveArrived) -> None:
        """Numbers a piece, unless its part has ended or the block is used up: then its final Message tells it."""
        workspace = await self.find_workspace(item.stream)
        if (item.stream, partial_key(item.frame.kind, item.frame.scope)) in self._over:
            return
        making = self._grow(item.stream, item.frame)
        for event in frame_events(item.stream, item.frame):
            if self.last + 1 >= self._end_of_share:
                return
            seq = self.next_number()
            if making is not None:
                making.seq = seq
            self.recent.push(Numbered(seq, workspace, encode(seq, event)))

    def _grow(self, stream: str, frame: Frame) -> LiveNumbering | None:
        if frame.kind != "text":
            return None
        part = (stream, partial_key(frame.kind, frame.scope))
        making = self._making.get(part)
        if making is None:
            making = self._making[part] = LiveNumbering(stream, frame, [])
        making.texts.append(frame.text)
        return making

    def _end(self, item: _HeadMoved) -> None:
        for key in item.ends:
            self._making.pop((item.stream, key), None)
            self._over.discard((item.stream, key))
