"""Where streams end, as the writer knows it within its transaction, and what the transaction will write."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import NamedTuple

from ...contracts.ports.store import Head
from ..batch import Line, empty_head
from ..chain import broken

#: How many streams' ends are remembered between transactions.
REMEMBERED = 4096
#: How many facts one statement inserts: SQLite is told of each statement, and lets other threads run meanwhile.
_TOGETHER = 32
_INSERT = "INSERT INTO facts (stream, sequence, header, link, seal, payload) VALUES (?, ?, ?, ?, ?, ?)"
_INSERT_MANY = _INSERT + ", (?, ?, ?, ?, ?, ?)" * (_TOGETHER - 1)


class End(NamedTuple):
    """The end of a stream and the number that the tables know it by; 0 where it is not in them."""

    number: int
    head: Head


class Ledger:
    """The ends of streams, remembered while the store's epoch stays ours: nobody else can have moved them then.

    Used in the writer's thread only.
    """

    def __init__(self, epoch: int, check: Callable[[sqlite3.Connection], None]) -> None:
        """`check` raises Refusal where the layout of the file is not one to write to."""
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
        """Read the epoch of this transaction. Raises Refusal where another tool changed the layout since it was checked."""
        self.check_layout(connection)
        (self.epoch,) = connection.execute("SELECT epoch FROM store").fetchone()
        if self.epoch != self.own_epoch or len(self._ends) > REMEMBERED:
            self._ends.clear()

    def check_layout(self, connection: sqlite3.Connection) -> None:
        """Raise Refusal where the layout is not one to write to. SQLite counts its changes: each is checked once."""
        (layout,) = connection.execute("PRAGMA schema_version").fetchone()
        if layout != self._layout:
            self._check(connection)
            self._layout = layout

    def ending(self, connection: sqlite3.Connection) -> None:
        self.flush(connection)

    def flush(self, connection: sqlite3.Connection) -> None:
        """Writes what this transaction added: in a statement for each table, whoever it comes from."""
        if facts := self._facts:
            whole = len(facts) - len(facts) % _TOGETHER
            groups = (facts[at : at + _TOGETHER] for at in range(0, whole, _TOGETHER))
            connection.executemany(_INSERT_MANY, (list(chain.from_iterable(group)) for group in groups))
            connection.executemany(_INSERT, facts[whole:])
            facts.clear()
        if self._blobs:
            connection.executemany("INSERT INTO blobs (hash, data) VALUES (?, ?) ON CONFLICT DO NOTHING", self._blobs)
            self._blobs.clear()
        if self._uses:
            connection.executemany(
                "INSERT OR IGNORE INTO blob_uses SELECT ?, ?, number FROM blobs WHERE hash = ?", self._uses
            )
            self._uses.clear()
        if self._closed:
            connection.executemany("INSERT OR IGNORE INTO closed VALUES (?, ?)", self._closed)
            self._closed.clear()
        if self._moved:
            ends = [self._ends[name] for name in self._moved]
            connection.executemany(
                "UPDATE streams SET head = ?, link = ?, at = ? WHERE number = ?",
                [(end.head.sequence, end.head.link, end.head.at, end.number) for end in ends],
            )
            self._moved.clear()

    def reset(self) -> None:
        """Forgets everything: it may have been part of what was undone."""
        self._ends.clear()
        self._moved.clear()
        self._facts.clear()
        self._closed.clear()
        self._blobs.clear()
        self._uses.clear()

    def get_end(self, connection: sqlite3.Connection, stream: str) -> End:
        """The end of the stream, with number 0 where there is no such stream."""
        end = self._ends.get(stream)
        if end is None:
            end = find_end(connection, stream)
            if end.number:
                self._ends[stream] = end
        return end

    def ensure_stream(self, connection: sqlite3.Connection, stream: str) -> End:
        """The end of the stream, which is entered where there is none."""
        end = self.get_end(connection, stream)
        if end.number:
            return end
        head = end.head
        made = connection.execute(
            "INSERT INTO streams (name, head, link, at) VALUES (?, ?, ?, ?)",
            (stream, head.sequence, head.link, head.at),
        )
        self._ends[stream] = End(made.lastrowid or 0, head)
        return self._ends[stream]

    def append(self, stream: str, number: int, lines: Sequence[Line], head: Head) -> None:
        """The stream has these facts now and ends here; written by `flush`."""
        self._facts += lines
        self._ends[stream] = End(number, head)
        self._moved.add(stream)

    def close_entities(self, number: int, ids: Iterable[str]) -> None:
        """These entities of the stream are terminal; written by `flush`."""
        self._closed += [(number, name) for name in ids]

    def store_blobs(self, blobs: Iterable[tuple[bytes, bytes]], uses: Iterable[tuple[int, int, bytes]]) -> None:
        """The blobs by their hashes, and which facts (stream, sequence) use which of them; written by `flush`."""
        self._blobs += blobs
        self._uses += uses

    def forget(self, stream: str) -> None:
        """The stream is gone."""
        self._ends.pop(stream, None)
        self._moved.discard(stream)


def find_end(connection: sqlite3.Connection, stream: str) -> End:
    """The end of the stream as the tables have it, with number 0 where there is none. Raises Refusal `chain_broken` where it is
    no end of a stream."""
    row = connection.execute("SELECT number, head, link, at FROM streams WHERE name = ?", (stream,)).fetchone()
    if row is None:
        return End(0, empty_head(stream))
    number, sequence, link, at = row
    if not (isinstance(sequence, int) and isinstance(link, bytes) and isinstance(at, int)):
        raise broken(stream, 1, "cannot be read, because the end of its stream is damaged")
    return End(number, Head(sequence=sequence, link=link, at=at))
