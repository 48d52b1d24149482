"""Erasure of a payload and deletion of a stream, with the blobs that only they use.

A deleted stream loses its name immediately. Its rows are then purged in steps, which keeps other writes fast and the
write-ahead log small. An interrupted purge continues when the store is next opened.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from ...contracts.errors import Refusal
from ...contracts.ports.store import Contents, Head
from ...contracts.record import decode_header
from .. import chain
from ..batch import build_fenced_refusal, build_unknown_fact_refusal, is_export_of
from ..chain import StoredBytes
from ..pieces import list_keys
from .ledger import End, Ledger
from .partials import end_partials

_USED = (
    "SELECT number, length(data) AS size FROM blobs WHERE number IN (SELECT blob FROM blob_uses"
    " WHERE stream = (SELECT number FROM streams WHERE name = ?)) AND length(data) >= ?"
)
_DROP_UNUSED_BLOB = "DELETE FROM blobs WHERE number = :blob AND NOT EXISTS (SELECT 1 FROM blob_uses WHERE blob = :blob)"
#: Facts that a step of a purge deletes, and rows of each other table.
PURGED_ROWS = 1000


def erase(connection: sqlite3.Connection, ledger: Ledger, stream: str, sequence: int) -> int:
    """Erase a payload and return the store's number of erasures. Raises Refusal `invalid_input` for an unknown fact.

    The answer of its command loses its content and keeps its key, so that the command does not run again.
    """
    number = _prepare(connection, ledger, stream).number
    row = connection.execute(
        "SELECT sequence, header, link, seal, payload FROM facts WHERE stream = ? AND sequence = ?", (number, sequence)
    ).fetchone()
    if row is None:
        raise build_unknown_fact_refusal(stream, sequence)
    erased = chain.erase(StoredBytes(*row))
    connection.execute(
        "UPDATE facts SET seal = ?, payload = NULL WHERE stream = ? AND sequence = ?", (erased.seal, number, sequence)
    )
    _drop_uses(connection, number, sequence, sequence)
    _drop_packs(connection, number, sequence)
    end_partials(connection, number, list_keys(decode_header(erased.header).scope))
    connection.execute(
        "UPDATE answers SET body_hash = '', answer = x'' WHERE stream = ? AND last >= ? AND first <= ?",
        (number, sequence, sequence),
    )
    return _count_erasure(connection)


def delete(connection: sqlite3.Connection, ledger: Ledger, stream: str) -> tuple[Head, int]:
    """Delete the stream. Return its former end and the store's number of erasures."""
    end = _prepare(connection, ledger, stream)
    connection.execute("UPDATE streams SET name = NULL WHERE number = ?", (end.number,))
    ledger.forget(stream)
    return end.head, _count_erasure(connection)


def measure(connection: sqlite3.Connection, stream: str, min_bytes: int) -> Contents:
    """Measure the stream's facts, and its blobs with at least `min_bytes`."""
    facts = connection.execute(
        "SELECT coalesce(sum(length(header) + coalesce(length(payload), 0)), 0) FROM facts"
        " WHERE stream = (SELECT number FROM streams WHERE name = ?)",
        (stream,),
    ).fetchone()[0]
    blobs: list[tuple[int, int]] = connection.execute(_USED, (stream, min_bytes)).fetchall()
    return Contents(facts=facts, blobs=len(blobs), size=sum(size for _, size in blobs))


def trim(connection: sqlite3.Connection, ledger: Ledger, stream: str, min_bytes: int) -> Contents:
    """Drop the stream's references to blobs of at least `min_bytes`, and blobs without references."""
    number = _prepare(connection, ledger, stream).number
    blobs: list[tuple[int, int]] = connection.execute(_USED, (stream, min_bytes)).fetchall()
    for blob, _ in blobs:
        connection.execute("DELETE FROM blob_uses WHERE stream = ? AND blob = ?", (number, blob))
        connection.execute(_DROP_UNUSED_BLOB, {"blob": blob})
    return Contents(blobs=len(blobs), size=sum(size for _, size in blobs))


def purge(connection: sqlite3.Connection) -> bool:
    """Delete some rows of a deleted stream. Return whether there are deleted streams."""
    row = connection.execute("SELECT number FROM streams WHERE name IS NULL LIMIT 1").fetchone()
    if row is None:
        return False
    (number,) = row
    last = connection.execute(
        "SELECT max(sequence) FROM (SELECT sequence FROM facts WHERE stream = ? ORDER BY sequence LIMIT ?)",
        (number, PURGED_ROWS),
    ).fetchone()[0]
    _drop_uses(connection, number, 0, last or 0)
    connection.execute("DELETE FROM facts WHERE stream = ? AND sequence <= ?", (number, last or 0))
    for table, key in (("answers", "key"), ("closed", "id")):
        connection.execute(
            f"DELETE FROM {table} WHERE stream = ? AND {key} IN (SELECT {key} FROM {table} WHERE stream = ? LIMIT ?)",  # noqa: S608
            (number, number, PURGED_ROWS),
        )
    rest = "SELECT 1 FROM facts WHERE stream = ? UNION ALL SELECT 1 FROM answers WHERE stream = ?"
    rest += " UNION ALL SELECT 1 FROM closed WHERE stream = ? LIMIT 1"
    if connection.execute(rest, (number, number, number)).fetchone() is None:
        end_partials(connection, number)
        connection.execute("DELETE FROM streams WHERE number = ?", (number,))
    return True


class PurgingLedger(Ledger):
    """A ledger that purges deleted streams while the writer is idle."""

    def do_idle_work(self, connection: sqlite3.Connection) -> bool:
        connection.execute("BEGIN IMMEDIATE")
        try:
            self.check_layout(connection)
        except Refusal:
            # The next append reports it.
            connection.execute("ROLLBACK")
            return False
        more = purge(connection)
        connection.execute("COMMIT")
        return more


def _prepare(connection: sqlite3.Connection, ledger: Ledger, stream: str) -> End:
    """Check the lease, write collected rows and return the stream's end."""
    if ledger.epoch != ledger.own_epoch:
        raise build_fenced_refusal(stream, ledger.own_epoch, ledger.epoch)
    ledger.flush(connection)
    return ledger.get_end(connection, stream)


def _drop_uses(connection: sqlite3.Connection, stream: int, first: int, last: int) -> None:
    span = (stream, first, last)
    used: Iterable[tuple[int]] = connection.execute(
        "SELECT DISTINCT blob FROM blob_uses WHERE stream = ? AND sequence BETWEEN ? AND ?", span
    ).fetchall()
    connection.execute("DELETE FROM blob_uses WHERE stream = ? AND sequence BETWEEN ? AND ?", span)
    connection.executemany(_DROP_UNUSED_BLOB, [{"blob": blob} for (blob,) in used])


def _drop_packs(connection: sqlite3.Connection, stream: int, erased: int) -> None:
    """Drop the evidence packs that contain an erased fact."""
    later: Iterable[tuple[int, bytes, bytes | None]] = connection.execute(
        "SELECT sequence, header, payload FROM facts WHERE stream = :stream AND sequence > :erased AND EXISTS"
        " (SELECT 1 FROM blob_uses WHERE blob_uses.stream = :stream AND blob_uses.sequence = facts.sequence)",
        {"stream": stream, "erased": erased},
    )
    for pack in [sequence for sequence, header, payload in later if is_export_of(header, payload, erased)]:
        _drop_uses(connection, stream, pack, pack)


def _count_erasure(connection: sqlite3.Connection) -> int:
    (erasures,) = connection.execute("UPDATE store SET erasures = erasures + 1 RETURNING erasures").fetchone()
    return erasures
