"""The newest row operations of one stream, encoded once for all clients."""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import AsyncGenerator, Callable, Sequence

import msgspec

from callboard.contracts.live import Cursor
from callboard.contracts.rows.base import Op

_encoder = msgspec.json.Encoder()


#: Seconds between two wake-ups of the followers: per follower after the first, and at most.
#: Operations in between are sent together. The first operation after a pause is sent immediately.
DELAY_PER_FOLLOWER = 0.000025
MAX_DELAY_SECONDS = 0.005


class _Entry(msgspec.Struct):
    """Operations of one moment. `at` is the time on the monotonic clock."""

    cursor: Cursor
    data: bytes
    at: float


def encode(kind: str, cursor: Cursor, ops: Sequence[Op]) -> bytes:
    """Return operations as one server-sent event: the cursor is its id, `ops` or `snapshot` its name."""
    body = _encoder.encode({"kind": kind, "cursor": str(cursor), "ops": ops})
    return b"id: %s\nevent: %s\ndata: %s\n\n" % (str(cursor).encode(), kind.encode(), body)


class Ring:
    """The newest operations, limited by size and age.

    A client is a cursor into it. A client behind the oldest entry receives a snapshot. Operations
    are kept while a client follows and for `replay` seconds after the last one left.
    """

    def __init__(self, cursor: Cursor, max_bytes: int, snapshot: Callable[[], Sequence[Op]], replay: float) -> None:
        self.cursor = cursor
        self._base = cursor
        self._entries: deque[_Entry] = deque()
        self._first_index = 0
        self._size = 0
        self._max_bytes = max_bytes
        self._snapshot = snapshot
        # Created only while a client waits: an event uses more memory than an empty ring.
        self._news: asyncio.Event | None = None
        self._wake_timer: asyncio.TimerHandle | None = None
        self._woken_at = 0.0
        self._joined: tuple[int, int, bytes] = (0, 0, b"")
        self._closed = False
        self._replay = replay
        self._read_at = -math.inf
        self.followers = 0

    def push(self, cursor: Cursor, ops: Sequence[Op]) -> None:
        """Add operations. Clients that apply them reach the cursor."""
        if not ops:
            return
        loop = asyncio.get_running_loop()
        if not self.is_read:
            # No client can continue from here, so nothing is encoded.
            self._clear(cursor)
            return
        entry = _Entry(cursor, encode("ops", cursor, ops), loop.time())
        self._entries.append(entry)
        self._size += len(entry.data)
        self.cursor = cursor
        while self._size > self._max_bytes and len(self._entries) > 1:
            self._drop()
        if self._wake_timer is None and self.followers:
            soonest = self._woken_at + min(MAX_DELAY_SECONDS, (self.followers - 1) * DELAY_PER_FOLLOWER)
            if loop.time() >= soonest:
                self._wake()
            else:
                self._wake_timer = loop.call_at(soonest, self._wake)

    @property
    def is_read(self) -> bool:
        """Return True while a client follows, or can continue from a cursor that it received."""
        return self.followers > 0 or asyncio.get_running_loop().time() - self._read_at <= self._replay

    def hold(self) -> None:
        """Keep operations from now on, for a client that received the cursor."""
        self._read_at = asyncio.get_running_loop().time()

    def drop_older(self, age: float) -> None:
        """Drop operations older than `age` seconds. A client that was away longer receives a snapshot."""
        oldest = asyncio.get_running_loop().time() - age
        while self._entries and self._entries[0].at <= oldest:
            self._drop()
        if not self._entries:
            self._joined = (0, 0, b"")

    def restart(self, cursor: Cursor) -> None:
        """Invalidate all cursors: every client receives a snapshot."""
        self._clear(cursor)
        self._wake()

    def close(self) -> None:
        """End every client's stream."""
        self._closed = True
        self._wake()

    async def follow(self, after: Cursor | None) -> AsyncGenerator[bytes]:
        """Yield encoded events from the cursor, or a snapshot first. Waiting events are combined."""
        self.followers += 1
        try:
            position = self._find_position(after)
            while not self._closed:
                if position is None or position < self._first_index:
                    position = self._first_index + len(self._entries)
                    yield encode("snapshot", self.cursor, self._snapshot())
                    continue
                if position < self._first_index + len(self._entries):
                    data = self._join_from(position)
                    position = self._first_index + len(self._entries)
                    yield data
                    del data
                    continue
                self._news = self._news or asyncio.Event()
                await self._news.wait()
        finally:
            self.followers -= 1
            self.hold()

    def _clear(self, cursor: Cursor) -> None:
        self._first_index += len(self._entries) + 1
        self._entries.clear()
        self._size = 0
        self._base = self.cursor = cursor

    def _drop(self) -> None:
        dropped = self._entries.popleft()
        self._size -= len(dropped.data)
        self._base = dropped.cursor
        self._first_index += 1

    def _join_from(self, index: int) -> bytes:
        """Return the events from an index on, joined once for all clients at the same position."""
        end = self._first_index + len(self._entries)
        if self._joined[:2] != (index, end):
            joined = b"".join(self._entries[at - self._first_index].data for at in range(index, end))
            self._joined = (index, end, joined)
        return self._joined[2]

    def _find_position(self, after: Cursor | None) -> int | None:
        """Return the index of the client's next event; None if the cursor is unknown."""
        if after is None:
            return None
        if after == self._base:
            return self._first_index
        for index, entry in enumerate(self._entries):
            if entry.cursor == after:
                return self._first_index + index + 1
        return None

    def _wake(self) -> None:
        if self._wake_timer is not None:
            self._wake_timer.cancel()
            self._wake_timer = None
        self._woken_at = asyncio.get_running_loop().time()
        event, self._news = self._news, None
        if event is not None:
            event.set()
