"""The live feed within one process: a bounded ring for each stream that somebody follows or something is being made in."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence

import msgspec

from ..contracts.live import Cursor, Frame, Partial, partial_key
from ..contracts.ports.live import LiveFacts, LiveGap, LiveItem, LivePiece
from ..contracts.ports.store import Head
from ..contracts.record import Record

#: How much a ring remembers: so many items, with so many characters in their frames.
ITEMS = 1024
CHARACTERS = 1024 * 1024


class _Part(msgspec.Struct):
    """A part in the making: its first frame, its text in pieces, and how long it is."""

    first: Frame
    tool: str
    texts: list[str]
    length: int

    def so_far(self) -> Partial:
        self.texts = ["".join(self.texts)]
        return Partial(kind=self.first.kind, scope=self.first.scope, text=self.texts[0], tool=self.tool)


class _Follower:
    """One that follows a stream, with the cursor of what it has had. Waits without an `asyncio.Event`, which takes more memory
    than all else that a quiet stream has."""

    def __init__(self, had: Cursor) -> None:
        self.had = had
        self._waiting: asyncio.Future[None] | None = None

    def wake(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    async def wait(self) -> None:
        """Wait until there is more."""
        self._waiting = asyncio.get_running_loop().create_future()
        try:
            await self._waiting
        finally:
            self._waiting = None


class _Ring:
    """The newest items of a stream. `base` is the cursor before the oldest of them, `end` the one after the newest."""

    def __init__(self, end: Cursor) -> None:
        self.base = self.end = end
        self.items: deque[LiveFacts | LivePiece] = deque()
        self.characters = 0
        self.parts: dict[str, _Part] = {}
        self.followers: set[_Follower] = set()

    def add(self, item: LiveFacts | LivePiece) -> None:
        self.items.append(item)
        self.end = item.cursor
        self.characters += _weight(item)
        self.trim()
        self._wake()

    def restart(self, end: Cursor) -> None:
        """Something is missing before this place: whoever follows gets a gap."""
        self.items.clear()
        self.characters = 0
        self.base = self.end = end
        self._wake()

    def trim(self) -> None:
        """Forgets the oldest items beyond the bounds, and those that every follower has had."""
        had = min((one.had for one in self.followers), default=self.end)
        while self.items:
            oldest = self.items[0]
            if len(self.items) <= ITEMS and self.characters <= CHARACTERS and oldest.cursor > had:
                break
            self.items.popleft()
            self.base = oldest.cursor
            self.characters -= _weight(oldest)

    def _wake(self) -> None:
        for follower in self.followers:
            follower.wake()

    def gap(self) -> LiveGap:
        return LiveGap(self.end, tuple(part.so_far() for part in self.parts.values()))

    def since(self, after: Cursor) -> tuple[LiveItem, ...] | None:
        """What comes after the cursor, or None where that is not known."""
        if after == self.end:
            return ()
        if not self.base <= after < self.end:
            return None
        found: list[LiveItem] = []
        before = self.base
        for item in reversed(self.items):
            if item.cursor <= after:
                before = item.cursor
                break
            found.append(item)
        found.reverse()
        if after != before:
            # Within a batch of facts every sequence is a place; no other place was ever given.
            first = found[0]
            if after.n or not isinstance(first, LiveFacts):
                return None
            found[0] = LiveFacts(first.cursor, tuple(r for r in first.records if r.sequence > after.sequence))
        return _joined(found)


class InProcessLiveFeed:
    """The LiveFeed port. Items are kept until all who follow have had them. Of a stream that nobody follows, and in which
    nothing is being made, only its place is kept."""

    def __init__(self, head: Callable[[str], Awaitable[Head]]) -> None:
        """`head` asks the log where a stream ends, for those who follow one in which nothing has moved yet."""
        self._head = head
        self._places: dict[str, int] = {}
        self._rings: dict[str, _Ring] = {}

    def facts(self, stream: str, records: Sequence[Record], ends: Sequence[str] = ()) -> None:
        place = self._places.get(stream)
        fresh = tuple(record for record in records if place is None or record.sequence > place)
        if fresh:
            self._places[stream] = fresh[-1].sequence
        ring = self._rings.get(stream)
        if ring is None:
            return
        for key in ends:
            ring.parts.pop(key, None)
        if fresh and place is not None and fresh[0].sequence > place + 1:
            ring.restart(Cursor(fresh[-1].sequence))
        elif fresh:
            ring.add(LiveFacts(Cursor(fresh[-1].sequence), fresh))
        self._leave(stream, ring)

    def frame(self, stream: str, frame: Frame) -> Cursor:
        if stream not in self._places:
            raise ValueError(f"A frame of {stream} came before its facts.")
        ring = self._ring(stream)
        if frame.kind != "progress":
            self._grow(ring, frame)
        cursor = Cursor(ring.end.sequence, ring.end.n + 1)
        ring.add(LivePiece(cursor, frame))
        return cursor

    @staticmethod
    def _grow(ring: _Ring, frame: Frame) -> None:
        key = partial_key(frame.kind, frame.scope)
        part = ring.parts.get(key)
        length = part.length if part else 0
        if frame.offset != length:
            raise ValueError(f"A frame of {key} begins at character {frame.offset}; the part has {length}.")
        if part is None:
            part = ring.parts[key] = _Part(frame, frame.tool, [], 0)
        part.texts.append(frame.text)
        part.length += len(frame.text)
        part.tool = frame.tool or part.tool

    async def follow(self, stream: str, after: Cursor | None = None) -> AsyncGenerator[tuple[LiveItem, ...], None]:
        if stream not in self._places:
            head = await self._head(stream)
            self._places.setdefault(stream, head.sequence)
        ring = self._ring(stream)
        follower = _Follower(ring.base if after is None else after)
        ring.followers.add(follower)
        try:
            while True:
                items = None if after is None else ring.since(after)
                if items is None:
                    items = (ring.gap(),)
                if items:
                    after = items[-1].cursor
                    yield items
                    # Taken: what comes next was asked for.
                    items, follower.had = (), after
                    if len(ring.followers) == 1:
                        # Of many the next item trims: each would look at all of them here.
                        ring.trim()
                else:
                    await follower.wait()
        finally:
            ring.followers.discard(follower)
            ring.trim()
            self._leave(stream, ring)

    def _ring(self, stream: str) -> _Ring:
        ring = self._rings.get(stream)
        if ring is None:
            ring = self._rings[stream] = _Ring(Cursor(self._places[stream]))
        return ring

    def _leave(self, stream: str, ring: _Ring) -> None:
        if not ring.followers and not ring.parts and self._rings.get(stream) is ring:
            del self._rings[stream]


def _weight(item: LiveFacts | LivePiece) -> int:
    return len(item.frame.text) if isinstance(item, LivePiece) else 0


def _joined(items: Sequence[LiveItem]) -> tuple[LiveItem, ...]:
    """The items with neighbouring pieces of one part as one."""
    joined: list[LiveItem] = []
    for item in items:
        last = joined[-1] if joined else None
        if isinstance(item, LivePiece) and isinstance(last, LivePiece) and _continues(last.frame, item.frame):
            frame = msgspec.structs.replace(last.frame, text=last.frame.text + item.frame.text)
            joined[-1] = LivePiece(item.cursor, frame)
        else:
            joined.append(item)
    return tuple(joined)


def _continues(one: Frame, next_: Frame) -> bool:
    return (
        one.kind == next_.kind != "progress"
        and one.offset + len(one.text) == next_.offset
        and one.tool == next_.tool
        and one.scope == next_.scope
    )
