"""Checks of stored row operations, and selection of rows for a window. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from ..contracts.rows.base import AppendText, Op

T = TypeVar("T")


def select_newest(entries: Iterable[tuple[int, int, T]], limit: int, max_bytes: int) -> tuple[T, ...]:
    """Return the newest rows that fit into a window, oldest first, and at least one.

    Rows with the same order stay together even beyond the limits, because the next window starts below that order.

    Args:
        entries: Entries `(order, size, row)`, newest first.
        limit: The largest number of rows.
        max_bytes: The largest sum of sizes.
    """
    rows: list[T] = []
    total = 0
    last: int | None = None
    for order, size, row in entries:
        if rows and order != last and (len(rows) >= limit or total + size > max_bytes):
            break
        rows.append(row)
        total += size
        last = order
    rows.reverse()
    return tuple(rows)


def check_storable(ops: Sequence[Op]) -> None:
    """Raise ValueError for `append`, which is for partial text only. A fact replaces its whole row."""
    if any(isinstance(op, AppendText) for op in ops):
        raise ValueError("Only upsert and remove are stored; append is for live frames.")
