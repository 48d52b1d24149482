"""Row operations that a full disk refused, kept in memory until they are written."""

from __future__ import annotations

from collections.abc import Sequence

from callboard.contracts.rows.base import Op, Remove, Row, Upsert


class UnwrittenRows:
    """Unwritten row operations by stream. Used in the event loop."""

    def __init__(self) -> None:
        self._ops: dict[str, dict[tuple[str, str], Op]] = {}

    def add(self, stream: str, ops: Sequence[Op]) -> None:
        """Keep operations that were not written."""
        unwritten = self._ops.setdefault(stream, {})
        for op in ops:
            if isinstance(op, Upsert):
                unwritten[op.panel, op.row.key] = op
            elif isinstance(op, Remove):
                unwritten[op.panel, op.key] = op

    def clear(self, stream: str) -> None:
        """Drop the operations of a stream after they were written or discarded."""
        self._ops.pop(stream, None)

    def merge(self, stream: str, panel: str, rows: tuple[Row, ...], before: int | None, limit: int) -> tuple[Row, ...]:
        """Return the newest rows of a panel with the unwritten operations applied."""
        unwritten = [op for (name, _), op in self._ops.get(stream, {}).items() if name == panel]
        if not unwritten:
            return rows
        merged = {row.key: row for row in rows}
        for op in unwritten:
            if isinstance(op, Upsert) and (before is None or op.row.order < before):
                merged[op.row.key] = op.row
            elif isinstance(op, Remove):
                merged.pop(op.key, None)
        return tuple(sorted(merged.values(), key=lambda row: (row.order, row.key))[-limit:])

    def find(self, stream: str, panel: str, key: str, row: Row | None) -> Row | None:
        """Return a row with the unwritten operations applied."""
        op = self._ops.get(stream, {}).get((panel, key))
        if op is None:
            return row
        return op.row if isinstance(op, Upsert) else None
