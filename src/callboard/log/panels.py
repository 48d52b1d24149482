"""Which row operations are kept, and which rows fit a window. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from ..contracts.rows.base import AppendText, Op

T = TypeVar("T")


def newest(found: Iterable[tuple[int, int, T]], limit: int, largest: int) -> tuple[T, ...]:
    """Of entries `(order, size, row)`, newest first, those that fit, oldest first.

    At least one. Rows of one order stay together, even past the bounds: the next window begins below that order and
    would miss the rest.
    """
    taken: list[T] = []
    size = 0
    last: int | None = None
    for order, more, row in found:
        if taken and order != last and (len(taken) >= limit or size + more > largest):
            break
        taken.append(row)
        size += more
        last = order
    taken.reverse()
    return tuple(taken)


def check_kept(ops: Sequence[Op]) -> None:
    """Raises ValueError for `append`: it belongs to text in the making, which is never kept. A fact replaces its row whole."""
    if any(isinstance(op, AppendText) for op in ops):
        raise ValueError("Only upsert and remove are kept; append is for live frames.")
