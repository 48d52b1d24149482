"""The ring of one stream: operations, encoded once for all clients. A client is a cursor into it and costs nothing more."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable, Sequence

import msgspec

from callboard.contracts.live import Cursor
from callboard.contracts.rows import Op

_encoder = msgspec.json.Encoder()


#: So many seconds for each follower but the first, and at most so many, are between two times at which they are told: what
#: comes meanwhile goes out in the same writes. The first news after a silence is told at once.
EACH = 0.000025
LONGEST = 0.005


class _Entry(msgspec.Struct):
    """Operations of one moment. `at` is when they came, on the clock that never goes back."""

    cursor: Cursor
    data: bytes
    at: float


def encode(kind: str, cursor: Cursor, ops: Sequence[Op]) -> bytes:
    """Operations as one server-sent event: the cursor is its id, `ops` or `snapshot` its name."""
    body = _encoder.encode({"kind": kind, "cursor": str(cursor), "ops": ops})
    return b"id: %s\nevent: %s\ndata: %s\n\n" % (str(cursor).encode(), kind.encode(), body)


class Ring:
    """Holds the newest operations up to a size and an age. Whoever falls behind its oldest entry gets a snapshot instead."""

    def __init__(self, cursor: Cursor, largest: int, snapshot: Callable[[], Sequence[Op]]) -> None:
        self.cursor = cursor
        self._base = cursor
        self._entries: deque[_Entry] = deque()
        self._first = 0
        self._size = 0
        self._largest = largest
        self._snapshot = snapshot
        # Only while a client waits: an event takes more memory than an empty ring.
        self._news: asyncio.Event | None = None
        self._telling: asyncio.TimerHandle | None = None
        self._told = 0.0
        self._joined: tuple[int, int, bytes] = (0, 0, b"")
        self._closed = False
        self.followers = 0

    def push(self, cursor: Cursor, ops: Sequence[Op]) -> None:
        """Adds operations; clients that apply them are at the cursor."""
        if not ops:
            return
        loop = asyncio.get_running_loop()
        entry = _Entry(cursor, encode("ops", cursor, ops), loop.time())
        self._entries.append(entry)
        self._size += len(entry.data)
        self.cursor = cursor
        while self._size > self._largest and len(self._entries) > 1:
            self._drop()
        if self._telling is None and self.followers:
            soonest = self._told + min(LONGEST, (self.followers - 1) * EACH)
            if loop.time() >= soonest:
                self._wake()
            else:
                self._telling = loop.call_at(soonest, self._wake)

    def drop_older(self, age: float) -> None:
        """Drops operations that came more than so many seconds ago: a client that was away for longer gets a snapshot."""
        oldest = asyncio.get_running_loop().time() - age
        while self._entries and self._entries[0].at <= oldest:
            self._drop()
        if not self._entries:
            self._joined = (0, 0, b"")

    def restart(self, cursor: Cursor) -> None:
        """What clients have leads nowhere any more: everyone gets a snapshot."""
        self._first += len(self._entries) + 1
        self._entries.clear()
        self._size = 0
        self._base = self.cursor = cursor
        self._wake()

    def close(self) -> None:
        """Ends every client's stream."""
        self._closed = True
        self._wake()

    async def follow(self, after: Cursor | None) -> AsyncGenerator[bytes]:
        """Encoded events from the cursor on, or from a snapshot. All that waits is given as one chunk."""
        self.followers += 1
        try:
            place = self._place(after)
            while not self._closed:
                if place is None or place < self._first:
                    place = self._first + len(self._entries)
                    yield encode("snapshot", self.cursor, self._snapshot())
                    continue
                if place < self._first + len(self._entries):
                    data = self._from(place)
                    place = self._first + len(self._entries)
                    yield data
                    del data
                    continue
                self._news = self._news or asyncio.Event()
                await self._news.wait()
        finally:
            self.followers -= 1

    def _drop(self) -> None:
        gone = self._entries.popleft()
        self._size -= len(gone.data)
        self._base = gone.cursor
        self._first += 1

    def _from(self, place: int) -> bytes:
        """All that comes from there on: joined once for all who are at the same place."""
        end = self._first + len(self._entries)
        if self._joined[:2] != (place, end):
            joined = b"".join(self._entries[at - self._first].data for at in range(place, end))
            self._joined = (place, end, joined)
        return self._joined[2]

    def _place(self, after: Cursor | None) -> int | None:
        """The index of what comes next for a client at that cursor; None where the ring does not know the place."""
        if after is None:
            return None
        if after == self._base:
            return self._first
        for index, entry in enumerate(self._entries):
            if entry.cursor == after:
                return self._first + index + 1
        return None

    def _wake(self) -> None:
        if self._telling is not None:
            self._telling.cancel()
            self._telling = None
        self._told = asyncio.get_running_loop().time()
        news, self._news = self._news, None
        if news is not None:
            news.set()
