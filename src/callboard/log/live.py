"""The live feed of one process: a bounded ring of new items for each active stream."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence

import msgspec

from ..contracts.live import Cursor, Frame, Partial, build_partial_key
from ..contracts.ports.live import LiveFacts, LiveGap, LiveItem, LivePiece
from ..contracts.ports.store import Head
from ..contracts.record import Record

#: The largest number of items in a ring, and of characters in their frames.
MAX_ITEMS = 1024
MAX_CHARS = 1024 * 1024


class _Part(msgspec.Struct):
    """A part in progress: its first frame, its text in pieces, and its length."""

    first: Frame
    tool: str
    texts: list[str]
    length: int

    def to_partial(self) -> Partial:
        self.texts = ["".join(self.texts)]
        return Partial(kind=self.first.kind, scope=self.first.scope, text=self.texts[0], tool=self.tool)


class _Follower:
    """A follower and the cursor it has reached. An `asyncio.Event` would double the memory of a quiet stream."""

    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor
        self._waiting: asyncio.Future[None] | None = None

    def wake(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    async def wait(self) -> None:
        self._waiting = asyncio.get_running_loop().create_future()
        try:
            await self._waiting
        finally:
            self._waiting = None


class _Ring:
    """The newest items of a stream. `base` is the cursor before the oldest item, `end` the cursor after the newest."""

    def __init__(self, end: Cursor) -> None:
        self.base = self.end = end
        self.items: deque[LiveFacts | LivePiece] = deque()
        self.characters = 0
        self.parts: dict[str, _Part] = {}
        self.followers: set[_Follower] = set()

    def add(self, item: LiveFacts | LivePiece) -> None:
        self.items.append(item)
        self.end = item.cursor
        self.characters += _count_characters(item)
        if len(self.followers) != 1 or len(self.items) > MAX_ITEMS or self.characters > MAX_CHARS:
            # A single follower trims when it has received items.
            self.trim()
        self._wake()

    def restart(self, end: Cursor) -> None:
        """Continue at `end` after missing facts. Followers get a gap."""
        self.items.clear()
        self.characters = 0
        self.base = self.end = end
        self._wake()

    def trim(self) -> None:
        """Drop the oldest items beyond the bounds, and the items that every follower has received."""
        received = min((follower.cursor for follower in self.followers), default=self.end)
        while self.items:
            oldest = self.items[0]
            if len(self.items) <= MAX_ITEMS and self.characters <= MAX_CHARS and oldest.cursor > received:
                break
            self.items.popleft()
            self.base = oldest.cursor
            self.characters -= _count_characters(oldest)

    def _wake(self) -> None:
        for follower in self.followers:
            follower.wake()

    def make_gap(self) -> LiveGap:
        return LiveGap(self.end, tuple(part.to_partial() for part in self.parts.values()))

    def list_after(self, after: Cursor) -> tuple[LiveItem, ...] | None:
        """Return the items after the cursor, or None if the ring does not have them all."""
        if after == self.end:
            return ()
        if not self.base <= after < self.end:
            return None
        items: list[LiveItem] = []
        before = self.base
        for item in reversed(self.items):
            if item.cursor <= after:
                before = item.cursor
                break
            items.append(item)
        items.reverse()
        if after != before:
            # A cursor within a batch of facts has a sequence only. Any other cursor is unknown.
            first = items[0]
            if after.n or not isinstance(first, LiveFacts):
                return None
            items[0] = LiveFacts(first.cursor, tuple(r for r in first.records if r.sequence > after.sequence))
        return _join_pieces(items)


class InProcessLiveFeed:
    """Implements the port `LiveFeed`.

    An item is dropped once every follower has received it. An idle stream keeps its newest sequence only.

    Args:
        head: Returns the end of a stream in the log, for a stream without facts in the feed.
    """

    def __init__(self, head: Callable[[str], Awaitable[Head]]) -> None:
        self._head = head
        self._sequences: dict[str, int] = {}
        self._rings: dict[str, _Ring] = {}

    def begin(self, stream: str) -> None:
        self._sequences.setdefault(stream, 0)

    def publish_facts(self, stream: str, records: Sequence[Record], ends: Sequence[str] = ()) -> None:
        newest = self._sequences.get(stream)
        new = tuple(records)
        if newest is not None and new and new[0].sequence <= newest:
            new = tuple(record for record in new if record.sequence > newest)
        if new:
            self._sequences[stream] = new[-1].sequence
        ring = self._rings.get(stream)
        if ring is None:
            return
        for key in ends:
            ring.parts.pop(key, None)
        if new and newest is not None and new[0].sequence > newest + 1:
            ring.restart(Cursor(new[-1].sequence))
        elif new:
            ring.add(LiveFacts(Cursor(new[-1].sequence), new))
        self._drop_if_idle(stream, ring)

    def publish_frame(self, stream: str, frame: Frame) -> Cursor:
        if stream not in self._sequences:
            raise ValueError(f"A frame of {stream} arrived before its facts.")
        ring = self._ensure_ring(stream)
        if frame.kind != "progress":
            self._extend_part(ring, frame)
        cursor = Cursor(ring.end.sequence, ring.end.n + 1)
        ring.add(LivePiece(cursor, frame))
        return cursor

    @staticmethod
    def _extend_part(ring: _Ring, frame: Frame) -> None:
        key = build_partial_key(frame.kind, frame.scope)
        part = ring.parts.get(key)
        length = part.length if part else 0
        if frame.offset != length:
            raise ValueError(f"A frame of {key} starts at character {frame.offset}, but the part has {length}.")
        if part is None:
            part = ring.parts[key] = _Part(frame, frame.tool, [], 0)
        part.texts.append(frame.text)
        part.length += len(frame.text)
        part.tool = frame.tool or part.tool

    async def follow(self, stream: str, after: Cursor | None = None) -> AsyncGenerator[tuple[LiveItem, ...], None]:
        if stream not in self._sequences:
            head = await self._head(stream)
            self._sequences.setdefault(stream, head.sequence)
        ring = self._ensure_ring(stream)
        follower = _Follower(ring.base if after is None else after)
        ring.followers.add(follower)
        try:
            while True:
                items = None if after is None else ring.list_after(after)
                if items is None:
                    items = (ring.make_gap(),)
                if items:
                    after = items[-1].cursor
                    yield items
                    # The consumer asked for the next items, so it has received these.
                    items, follower.cursor = (), after
                    if len(ring.followers) == 1:
                        # With several followers the next item trims, because each trim visits all of them.
                        ring.trim()
                else:
                    await follower.wait()
        finally:
            ring.followers.discard(follower)
            ring.trim()
            self._drop_if_idle(stream, ring)

    def _ensure_ring(self, stream: str) -> _Ring:
        ring = self._rings.get(stream)
        if ring is None:
            ring = self._rings[stream] = _Ring(Cursor(self._sequences[stream]))
        return ring

    def _drop_if_idle(self, stream: str, ring: _Ring) -> None:
        if not ring.followers and not ring.parts and self._rings.get(stream) is ring:
            del self._rings[stream]


def _count_characters(item: LiveFacts | LivePiece) -> int:
    return len(item.frame.text) if isinstance(item, LivePiece) else 0


def _join_pieces(items: Sequence[LiveItem]) -> tuple[LiveItem, ...]:
    """Join neighbouring pieces of one part."""
    joined: list[LiveItem] = []
    for item in items:
        last = joined[-1] if joined else None
        if isinstance(item, LivePiece) and isinstance(last, LivePiece) and _can_join(last.frame, item.frame):
            frame = msgspec.structs.replace(last.frame, text=last.frame.text + item.frame.text)
            joined[-1] = LivePiece(item.cursor, frame)
        else:
            joined.append(item)
    return tuple(joined)


def _can_join(frame: Frame, following: Frame) -> bool:
    return (
        frame.kind == following.kind != "progress"
        and frame.offset + len(frame.text) == following.offset
        and frame.tool == following.tool
        and frame.scope == following.scope
    )
