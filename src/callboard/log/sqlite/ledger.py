"""Ends of streams within the writer's transaction, and the rows that the transaction collects."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from ...contracts.ports.store import Head
from ..batch import Line, build_empty_head
from ..chain import build_broken_refusal
from .grouped_insert import GroupedInsert
from .writer import Hooks

#: The largest number of ends in the cache.
MAX_CACHED_ENDS = 4096
_READ_MARKS = "SELECT epoch, schema_version FROM store, pragma_schema_version"
_INSERT_FACTS = GroupedInsert("INSERT INTO facts (stream, sequence, header, link, seal, payload)", 6)
_INSERT_BLOBS = GroupedInsert("INSERT INTO blobs (hash, data)", 2, "ON CONFLICT DO NOTHING")
#: CROSS JOIN makes SQLite search the blob of each value, instead of reading all blobs.
_INSERT_USES = GroupedInsert(
    "INSERT OR IGNORE INTO blob_uses SELECT column1, column2, number FROM (",
    3,
    ") CROSS JOIN blobs ON hash = column3",
)
_INSERT_CLOSED = GroupedInsert("INSERT OR IGNORE INTO closed", 2)
#: An upsert, because SQLite has no UPDATE of many rows that is as fast. The rows exist.
_UPDATE_ENDS = GroupedInsert(
    "INSERT INTO streams (number, head, link, at)",
    4,
    "ON CONFLICT (number) DO UPDATE SET head = excluded.head, link = excluded.link, at = excluded.at",
)


class End(NamedTuple):
    """The end of a stream and its number in the tables, 0 for an unknown stream."""

    number: int
    head: Head


class Ledger(Hooks):
    """The ends of streams, cached while the epoch is ours, because no other process writes then.

    Used in the writer thread only.

    Args:
        check: Raises a Refusal if the layout of the file is not writable.
    """

    def __init__(self, epoch: int, check: Callable[[sqlite3.Connection], None]) -> None:
        self.own_epoch = epoch
        self._check = check
        self._layout = -1
        self.epoch = epoch
        self._ends: dict[str, End] = {}
        self._moved: set[str] = set()
        self._facts: list[Line] = []
        self._closed: list[tuple[int, str]] = []
        self._blobs: list[tuple[bytes, bytes]] = []
        self._uses: list[tuple[int, int, bytes]] = []

    def begin(self, connection: sqlite3.Connection) -> None:
        """Read the epoch of this transaction. Raises Refusal if another tool made the layout unwritable."""
        self.epoch, layout = connection.execute(_READ_MARKS).fetchone()
        self._check_layout(connection, layout)
        if self.epoch != self.own_epoch or len(self._ends) > MAX_CACHED_ENDS:
            self._ends.clear()

    def check_layout(self, connection: sqlite3.Connection) -> None:
        """Raise Refusal if the layout is not writable."""
        self._check_layout(connection, connection.execute("PRAGMA schema_version").fetchone()[0])

    def _check_layout(self, connection: sqlite3.Connection, layout: int) -> None:
        """Check a layout once: SQLite counts its changes."""
        if layout != self._layout:
            self._check(connection)
            self._layout = layout

    def flush(self, connection: sqlite3.Connection) -> None:
        if self._facts:
            _INSERT_FACTS.run(connection, self._facts)
            self._facts.clear()
        if self._blobs:
            _INSERT_BLOBS.run(connection, self._blobs)
            self._blobs.clear()
        if self._uses:
            _INSERT_USES.run(connection, self._uses)
            self._uses.clear()
        if self._closed:
            _INSERT_CLOSED.run(connection, self._closed)
            self._closed.clear()
        if self._moved:
            ends = [self._ends[name] for name in self._moved]
            _UPDATE_ENDS.run(connection, [(end.number, end.head.sequence, end.head.link, end.head.at) for end in ends])
            self._moved.clear()

    def reset(self) -> None:
        self._ends.clear()
        self._moved.clear()
        self._facts.clear()
        self._closed.clear()
        self._blobs.clear()
        self._uses.clear()

    def get_end(self, connection: sqlite3.Connection, stream: str) -> End:
        """Return the end of the stream, with number 0 if the stream does not exist."""
        end = self._ends.get(stream)
        if end is None:
            end = find_end(connection, stream)
            if end.number:
                self._ends[stream] = end
        return end

    def ensure_stream(self, connection: sqlite3.Connection, stream: str) -> End:
        """Return the end of the stream. Create a missing stream."""
        end = self.get_end(connection, stream)
        if end.number:
            return end
        head = end.head
        inserted = connection.execute(
            "INSERT INTO streams (name, head, link, at) VALUES (?, ?, ?, ?)",
            (stream, head.sequence, head.link, head.at),
        )
        self._ends[stream] = End(inserted.lastrowid or 0, head)
        return self._ends[stream]

    def append(self, stream: str, number: int, lines: Sequence[Line], head: Head) -> None:
        """Collect new facts of a stream and its new end."""
        self._facts += lines
        self._ends[stream] = End(number, head)
        self._moved.add(stream)

    def close_entities(self, number: int, ids: Iterable[str]) -> None:
        """Collect terminal entities of a stream."""
        self._closed += [(number, id) for id in ids]

    def store_blobs(self, blobs: Iterable[tuple[bytes, bytes]], uses: Iterable[tuple[int, int, bytes]]) -> None:
        """Collect blobs `(hash, data)` and uses `(stream, sequence, hash)`."""
        self._blobs += blobs
        self._uses += uses

    def forget(self, stream: str) -> None:
        """Drop a deleted stream from the cache."""
        self._ends.pop(stream, None)
        self._moved.discard(stream)


def find_end(connection: sqlite3.Connection, stream: str) -> End:
    """Read the end of the stream, with number 0 if it does not exist. Raises Refusal `chain_broken` if it is invalid."""
    row = connection.execute("SELECT number, head, link, at FROM streams WHERE name = ?", (stream,)).fetchone()
    if row is None:
        return End(0, build_empty_head(stream))
    number, sequence, link, at = row
    if not (isinstance(sequence, int) and isinstance(link, bytes) and isinstance(at, int)):
        raise build_broken_refusal(stream, 1, "cannot be read, because the end of its stream is damaged")
    return End(number, Head(sequence=sequence, link=link, at=at))
