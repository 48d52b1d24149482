"""INSERT statements for many rows at a time."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from itertools import chain

#: Rows of a statement, largest first. The connection keeps the statement of each size prepared.
_SIZES = (64, 32, 16, 8, 4, 2, 1)


class GroupedInsert:
    """An INSERT that writes any number of rows with few statements.

    Python releases the GIL for each statement, and a busy event loop returns it only after milliseconds.

    Args:
        start: The statement up to its values, such as `INSERT INTO facts (stream, sequence)`.
        columns: Number of values in a row.
        end: The statement after its values, such as `ON CONFLICT DO NOTHING`.
    """

    def __init__(self, start: str, columns: int, end: str = "") -> None:
        self._columns = columns
        row = f"({', '.join('?' * columns)})"
        self._statements = [(size, f"{start} VALUES {', '.join([row] * size)} {end}".rstrip()) for size in _SIZES]

    def run(self, connection: sqlite3.Connection, rows: Sequence[Sequence[object]]) -> None:
        """Write the rows in their order."""
        values, columns, at, left = list(chain.from_iterable(rows)), self._columns, 0, len(rows)
        for size, statement in self._statements:
            while left >= size:
                connection.execute(statement, values[at : at + size * columns])
                at += size * columns
                left -= size
