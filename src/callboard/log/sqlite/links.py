"""Facts as they are read: with every link checked, so that what was changed outside is never taken for what was appended."""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

from .. import chain
from ..chain import StoredBytes
from .ledger import End, find_end

# What was turned into text outside is compared by its bytes like everything else.
_COLUMNS = "CAST(header AS BLOB), CAST(facts.link AS BLOB), CAST(seal AS BLOB), CAST(payload AS BLOB)"


class ArrivedFacts(NamedTuple):
    """A fact among those of all streams."""

    place: int
    stream: str
    stored: StoredBytes


def read_linked(
    connection: sqlite3.Connection, stream: str, after: int, limit: int, until: int | None
) -> list[StoredBytes]:
    """Read facts in one transaction, and check that each follows from the one before it.

    Costs two hashes a fact. Nothing before `after` is checked again.

    Raises:
        Refusal: `chain_broken`, naming the first fact that does not fit.
    """
    connection.execute("BEGIN")
    try:
        end = find_end(connection, stream)
        last = min(end.head.sequence, after + limit, end.head.sequence if until is None else until)
        if last <= after:
            return []
        found = read_stored(connection, end.number, after, last)
        previous = _link_at(connection, end.number, stream, after)
    finally:
        connection.execute("COMMIT")
    _check(stream, end, (after, previous), found, last)
    return found


def read_stored(connection: sqlite3.Connection, number: int, after: int, last: int) -> list[StoredBytes]:
    """Read the facts of the stream with that number, from after one sequence up to another, as they are stored."""
    rows = connection.execute(
        f"SELECT sequence, {_COLUMNS} FROM facts WHERE stream = ? AND sequence > ? AND sequence <= ? ORDER BY sequence",  # noqa: S608
        (number, after, last),
    )
    return [StoredBytes(*row) for row in rows]


def read_arrived(connection: sqlite3.Connection, after: int, limit: int) -> list[ArrivedFacts]:
    """Read facts of all streams in the order of their arrival, and check the link of each.

    Raises:
        Refusal: `chain_broken`.
    """
    # CROSS JOIN keeps the order of the tables: the facts in theirs, and of each its stream.
    rows = connection.execute(
        f"SELECT position, name, sequence, {_COLUMNS}, (SELECT CAST(link AS BLOB) FROM facts AS former"  # noqa: S608
        " WHERE former.stream = facts.stream AND former.sequence = facts.sequence - 1)"
        " FROM facts CROSS JOIN streams ON number = stream WHERE position > ? AND name IS NOT NULL"
        " ORDER BY position LIMIT ?",
        (after, limit),
    ).fetchall()
    found: list[ArrivedFacts] = []
    for place, stream, *columns, previous in rows:
        stored = StoredBytes(*columns)
        if previous is None and stored.sequence > 1:
            raise chain.broken(stream, stored.sequence - 1, "is missing")
        chain.check(stream, stored.sequence - 1, previous or chain.genesis(stream), [stored])
        found.append(ArrivedFacts(place, stream, stored))
    return found


def _link_at(connection: sqlite3.Connection, number: int, stream: str, sequence: int) -> bytes:
    if sequence == 0:
        return chain.genesis(stream)
    row = connection.execute(
        "SELECT CAST(link AS BLOB) FROM facts WHERE stream = ? AND sequence = ?", (number, sequence)
    ).fetchone()
    if row is None:
        raise chain.broken(stream, sequence, "is missing")
    return row[0]


def _check(stream: str, end: End, before: tuple[int, bytes], found: list[StoredBytes], last: int) -> None:
    seen = chain.check(stream, *before, found)
    if seen[0] < last:
        raise chain.broken(stream, seen[0] + 1, "is missing")
    if last == end.head.sequence:
        chain.check_end(stream, (end.head.sequence, end.head.link), seen)
