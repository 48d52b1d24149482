"""Reads of facts with every link verified, so that an outside change never passes for an appended fact."""

from __future__ import annotations

import sqlite3

from ...contracts.ports.store import Arrival
from .. import chain
from ..batch import decode_record
from ..chain import StoredBytes
from .ledger import End, find_end

# CAST, because another tool may have turned bytes into text.
_COLUMNS = "CAST(header AS BLOB), CAST(facts.link AS BLOB), CAST(seal AS BLOB), CAST(payload AS BLOB)"


def read_linked(
    connection: sqlite3.Connection, stream: str, after: int, limit: int, until: int | None
) -> list[StoredBytes]:
    """Read facts in one transaction and verify the links after `after`. Raises Refusal `chain_broken`."""
    connection.execute("BEGIN")
    try:
        end = find_end(connection, stream)
        last = min(end.head.sequence, after + limit, end.head.sequence if until is None else until)
        if last <= after:
            return []
        facts = read_stored(connection, end.number, after, last)
        previous = _read_link(connection, end.number, stream, after)
    finally:
        connection.execute("COMMIT")
    _check(stream, end, (after, previous), facts, last)
    return facts


def read_stored(connection: sqlite3.Connection, number: int, after: int, last: int) -> list[StoredBytes]:
    """Read the facts after sequence `after` up to `last`, unverified, of the stream with this number."""
    rows = connection.execute(
        f"SELECT sequence, {_COLUMNS} FROM facts WHERE stream = ? AND sequence > ? AND sequence <= ? ORDER BY sequence",  # noqa: S608
        (number, after, last),
    )
    return [StoredBytes(*row) for row in rows]


def read_arrivals(connection: sqlite3.Connection, after: int, limit: int) -> tuple[Arrival, ...]:
    """Read facts of all streams in the order of arrival and verify each link. Raises Refusal `chain_broken`."""
    # CROSS JOIN makes SQLite read the facts in order, and then the stream of each.
    rows = connection.execute(
        f"SELECT position, name, sequence, {_COLUMNS}, (SELECT CAST(link AS BLOB) FROM facts AS former"  # noqa: S608
        " WHERE former.stream = facts.stream AND former.sequence = facts.sequence - 1)"
        " FROM facts CROSS JOIN streams ON number = stream WHERE position > ? AND name IS NOT NULL"
        " ORDER BY position LIMIT ?",
        (after, limit),
    ).fetchall()
    arrivals: list[Arrival] = []
    for position, stream, *columns, previous in rows:
        stored = StoredBytes(*columns)
        if previous is None and stored.sequence > 1:
            raise chain.build_broken_refusal(stream, stored.sequence - 1, "is missing")
        chain.check(stream, stored.sequence - 1, previous or chain.begin_chain(stream), [stored])
        arrivals.append(Arrival(position, decode_record(stream, stored)))
    return tuple(arrivals)


def _read_link(connection: sqlite3.Connection, number: int, stream: str, sequence: int) -> bytes:
    if sequence == 0:
        return chain.begin_chain(stream)
    row = connection.execute(
        "SELECT CAST(link AS BLOB) FROM facts WHERE stream = ? AND sequence = ?", (number, sequence)
    ).fetchone()
    if row is None:
        raise chain.build_broken_refusal(stream, sequence, "is missing")
    return row[0]


def _check(stream: str, end: End, before: tuple[int, bytes], facts: list[StoredBytes], last: int) -> None:
    sequence, link = chain.check(stream, *before, facts)
    if sequence < last:
        raise chain.build_broken_refusal(stream, sequence + 1, "is missing")
    if last == end.head.sequence:
        chain.check_end(stream, (end.head.sequence, end.head.link), (sequence, link))
