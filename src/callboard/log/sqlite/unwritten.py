"""Rows that a full disk refused: read from memory until they could be written."""

from __future__ import annotations

from collections.abc import Sequence

from ...contracts.rows.base import Op, Remove, Row, Upsert


class UnwrittenRows:
    """What was to be written to rows of a stream and was not. Used in the event loop."""

    def __init__(self) -> None:
        self._ops: dict[str, dict[tuple[str, str], Op]] = {}

    def add(self, stream: str, ops: Sequence[Op]) -> None:
        """Remember operations that could not be written."""
        waiting = self._ops.setdefault(stream, {})
        for op in ops:
            if isinstance(op, Upsert):
                waiting[op.panel, op.row.key] = op
            elif isinstance(op, Remove):
                waiting[op.panel, op.key] = op

    def clear(self, stream: str) -> None:
        """Forget a stream: all of it was written, or thrown away."""
        self._ops.pop(stream, None)

    def merge(self, stream: str, panel: str, rows: tuple[Row, ...], before: int | None, limit: int) -> tuple[Row, ...]:
        """Return the newest rows of a panel, those that were written and those that were not."""
        waiting = [op for (name, _), op in self._ops.get(stream, {}).items() if name == panel]
        if not waiting:
            return rows
        merged = {row.key: row for row in rows}
        for op in waiting:
            if isinstance(op, Upsert) and (before is None or op.row.order < before):
                merged[op.row.key] = op.row
            elif isinstance(op, Remove):
                merged.pop(op.key, None)
        return tuple(sorted(merged.values(), key=lambda row: (row.order, row.key))[-limit:])

    def find(self, stream: str, panel: str, key: str, row: Row | None) -> Row | None:
        """Return one row as it would be written."""
        op = self._ops.get(stream, {}).get((panel, key))
        if op is None:
            return row
        return op.row if isinstance(op, Upsert) else None
