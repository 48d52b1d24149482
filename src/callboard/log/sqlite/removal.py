"""Erasing a payload and deleting a stream, with everything that only they referred to.

A stream is deleted at once by taking its name away; its rows are then purged in bites, so that a large one neither holds up
other writes nor makes the write-ahead log large. A purge that was cut off goes on when the store is next opened.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from ...contracts.errors import Refusal
from ...contracts.ports.store import Contents, Head
from ...contracts.record import decode_header
from .. import chain
from ..batch import exports_fact, fenced, no_such_fact
from ..chain import StoredBytes
from ..pieces import list_keys
from .ledger import Ledger
from .partials import end_partials

_USED = (
    "SELECT number, length(data) AS size FROM blobs WHERE number IN (SELECT blob FROM blob_uses"
    " WHERE stream = (SELECT number FROM streams WHERE name = ?)) AND length(data) >= ?"
)
_DROP_UNUSED_BLOB = "DELETE FROM blobs WHERE number = :blob AND NOT EXISTS (SELECT 1 FROM blob_uses WHERE blob = :blob)"
#: How many facts, and as many rows of other tables, one bite of a purge deletes.
BITE = 1000


def erase(connection: sqlite3.Connection, ledger: Ledger, stream: str, sequence: int) -> int:
    """Erases one payload; returns how many erasures the store has seen. Raises Refusal `invalid_input` for no such fact.

    The answer of its command keeps its key, so that the command is not carried out again, and loses what it said.
    """
    _check_ours(ledger, stream)
    ledger.flush(connection)
    number = ledger.get_end(connection, stream).number
    row = connection.execute(
        "SELECT sequence, header, link, seal, payload FROM facts WHERE stream = ? AND sequence = ?", (number, sequence)
    ).fetchone()
    if row is None:
        raise no_such_fact(stream, sequence)
    gone = chain.erase(StoredBytes(*row))
    connection.execute(
        "UPDATE facts SET seal = ?, payload = NULL WHERE stream = ? AND sequence = ?", (gone.seal, number, sequence)
    )
    _drop_uses(connection, number, sequence, sequence)
    _drop_packs(connection, number, sequence)
    end_partials(connection, number, list_keys(decode_header(gone.header).scope))
    connection.execute(
        "UPDATE answers SET body_hash = '', answer = x'' WHERE stream = ? AND last >= ? AND first <= ?",
        (number, sequence, sequence),
    )
    return _count_erasure(connection)


def delete(connection: sqlite3.Connection, ledger: Ledger, stream: str) -> tuple[Head, int]:
    """Takes the stream out of the store; returns what its end was and how many erasures the store has seen."""
    _check_ours(ledger, stream)
    ledger.flush(connection)
    end = ledger.get_end(connection, stream)
    connection.execute("UPDATE streams SET name = NULL WHERE number = ?", (end.number,))
    ledger.forget(stream)
    return end.head, _count_erasure(connection)


def measure(connection: sqlite3.Connection, stream: str, smallest: int) -> Contents:
    """How large the stream is, with its blobs of at least so many bytes."""
    facts = connection.execute(
        "SELECT coalesce(sum(length(header) + coalesce(length(payload), 0)), 0) FROM facts"
        " WHERE stream = (SELECT number FROM streams WHERE name = ?)",
        (stream,),
    ).fetchone()[0]
    found: list[tuple[int, int]] = connection.execute(_USED, (stream, smallest)).fetchall()
    return Contents(facts=facts, blobs=len(found), size=sum(size for _, size in found))


def trim(connection: sqlite3.Connection, ledger: Ledger, stream: str, smallest: int) -> Contents:
    """Drops what the stream refers to of at least so many bytes, and the blobs that nobody refers to then."""
    _check_ours(ledger, stream)
    ledger.flush(connection)
    found: list[tuple[int, int]] = connection.execute(_USED, (stream, smallest)).fetchall()
    number = ledger.get_end(connection, stream).number
    for blob, _ in found:
        connection.execute("DELETE FROM blob_uses WHERE stream = ? AND blob = ?", (number, blob))
        connection.execute(_DROP_UNUSED_BLOB, {"blob": blob})
    return Contents(blobs=len(found), size=sum(size for _, size in found))


def purge(connection: sqlite3.Connection) -> bool:
    """Deletes a bite of the rows of deleted streams. True where there are more."""
    row = connection.execute("SELECT number FROM streams WHERE name IS NULL LIMIT 1").fetchone()
    if row is None:
        return False
    (number,) = row
    last = connection.execute(
        "SELECT max(sequence) FROM (SELECT sequence FROM facts WHERE stream = ? ORDER BY sequence LIMIT ?)",
        (number, BITE),
    ).fetchone()[0]
    _drop_uses(connection, number, 0, last or 0)
    connection.execute("DELETE FROM facts WHERE stream = ? AND sequence <= ?", (number, last or 0))
    for table, key in (("answers", "key"), ("closed", "id")):
        connection.execute(
            f"DELETE FROM {table} WHERE stream = ? AND {key} IN (SELECT {key} FROM {table} WHERE stream = ? LIMIT {BITE})",  # noqa: S608
            (number, number),
        )
    rest = "SELECT 1 FROM facts WHERE stream = ? UNION ALL SELECT 1 FROM answers WHERE stream = ?"
    rest += " UNION ALL SELECT 1 FROM closed WHERE stream = ? LIMIT 1"
    if connection.execute(rest, (number, number, number)).fetchone() is None:
        end_partials(connection, number)
        connection.execute("DELETE FROM streams WHERE number = ?", (number,))
    return True


class PurgingLedger(Ledger):
    """What is done around the transactions of `callboard.db`: the ledger, and purging while there is nothing else to do."""

    def do_idle_work(self, connection: sqlite3.Connection) -> bool:
        connection.execute("BEGIN IMMEDIATE")
        try:
            self.check_layout(connection)
        except Refusal:
            # The next append says why; what can wait is left until the file is in order.
            connection.execute("ROLLBACK")
            return False
        more = purge(connection)
        connection.execute("COMMIT")
        return more


def _check_ours(ledger: Ledger, stream: str) -> None:
    if ledger.epoch != ledger.own_epoch:
        raise fenced(stream, ledger.own_epoch, ledger.epoch)


def _drop_uses(connection: sqlite3.Connection, stream: int, first: int, last: int) -> None:
    span = (stream, first, last)
    used: Iterable[tuple[int]] = connection.execute(
        "SELECT DISTINCT blob FROM blob_uses WHERE stream = ? AND sequence BETWEEN ? AND ?", span
    ).fetchall()
    connection.execute("DELETE FROM blob_uses WHERE stream = ? AND sequence BETWEEN ? AND ?", span)
    connection.executemany(_DROP_UNUSED_BLOB, [{"blob": blob} for (blob,) in used])


def _drop_packs(connection: sqlite3.Connection, stream: int, shown: int) -> None:
    """Packs of evidence hold what they show: those that show the fact are dropped with it."""
    later: Iterable[tuple[int, bytes, bytes | None]] = connection.execute(
        "SELECT sequence, header, payload FROM facts WHERE stream = :stream AND sequence > :shown AND EXISTS"
        " (SELECT 1 FROM blob_uses WHERE blob_uses.stream = :stream AND blob_uses.sequence = facts.sequence)",
        {"stream": stream, "shown": shown},
    )
    for found in [sequence for sequence, header, payload in later if exports_fact(header, payload, shown)]:
        _drop_uses(connection, stream, found, found)


def _count_erasure(connection: sqlite3.Connection) -> int:
    (erasures,) = connection.execute("UPDATE store SET erasures = erasures + 1 RETURNING erasures").fetchone()
    return erasures
