"""A table of rows that operations are applied to: what a browser holds, for tests, the terminal and scripts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

import msgspec

from callboard.contracts.errors import Refusal
from callboard.contracts.rows import AppendText, Op, Remove, Row, Upsert

RowT = TypeVar("RowT", bound=Row)


class _Growing(msgspec.Struct):
    """A field that is being appended to. Its pieces are joined when the row is read."""

    pieces: list[str]
    length: int


class Table:
    """Rows by panel and key."""

    def __init__(self, ops: Iterable[Op] = ()) -> None:
        self._rows: dict[str, dict[str, Row]] = {}
        self._growing: dict[tuple[str, str, str], _Growing] = {}
        self.apply(ops)

    def apply(self, ops: Iterable[Op]) -> None:
        """Applies the operations in their order. Raises Refusal `gap` where a piece before an appended one is missing."""
        for op in ops:
            match op:
                case Upsert():
                    self._forget(op.panel, op.row.key)
                    self._rows.setdefault(op.panel, {})[op.row.key] = op.row
                case Remove():
                    self._forget(op.panel, op.key)
                    self._rows.get(op.panel, {}).pop(op.key, None)
                case AppendText():
                    self._append(op)

    def panel(self, kind: type[RowT]) -> list[RowT]:
        """The rows of a kind in the order of their panel."""
        rows = self._rows.get(kind.panel, {})
        found = [row for key in rows if isinstance(row := self._settled(kind.panel, key), kind)]
        return sorted(found, key=lambda row: (row.order, row.key))

    def row(self, kind: type[RowT], key: str) -> RowT | None:
        """The row of a kind and key, or None."""
        row = self._settled(kind.panel, key)
        return row if isinstance(row, kind) else None

    def rows(self) -> dict[str, list[Row]]:
        """Every panel that has rows, in order."""
        return {
            panel: sorted(
                (row for key in rows if (row := self._settled(panel, key))), key=lambda row: (row.order, row.key)
            )
            for panel, rows in sorted(self._rows.items())
            if rows
        }

    def _append(self, op: AppendText) -> None:
        row = self._rows.get(op.panel, {}).get(op.key)
        if row is None:
            raise Refusal("gap", f"Text came for the row {op.key} of {op.panel}, which is not here.")
        place = (op.panel, op.key, op.field)
        growing = self._growing.get(place)
        if growing is None:
            text = getattr(row, op.field).text
            growing = self._growing[place] = _Growing([text], len(text))
        if op.offset > growing.length:
            raise Refusal("gap", f"Text of {op.key} is missing between {growing.length} and {op.offset}.")
        fresh = op.text[growing.length - op.offset :]
        growing.pieces.append(fresh)
        growing.length += len(fresh)

    def _settled(self, panel: str, key: str) -> Row | None:
        row = self._rows.get(panel, {}).get(key)
        if row is None or not self._growing:
            return row
        for place in [place for place in self._growing if place[:2] == (panel, key)]:
            growing = self._growing.pop(place)
            field = msgspec.structs.replace(getattr(row, place[2]), text="".join(growing.pieces))
            row = self._rows[panel][key] = msgspec.structs.replace(row, **{place[2]: field})
        return row

    def _forget(self, panel: str, key: str) -> None:
        for place in [place for place in self._growing if place[:2] == (panel, key)]:
            del self._growing[place]


def compact(ops: Iterable[Op]) -> list[Op]:
    """Operations of the same effect without those that a later one of the same batch undoes."""
    kept: dict[tuple[str, str], list[Op]] = {}
    for op in ops:
        match op:
            case AppendText():
                kept.setdefault((op.panel, op.key), []).append(op)
            case Upsert():
                _replace(kept, (op.panel, op.row.key), op)
            case Remove():
                _replace(kept, (op.panel, op.key), op)
    return [op for group in kept.values() for op in group]


def _replace(kept: dict[tuple[str, str], list[Op]], place: tuple[str, str], op: Op) -> None:
    kept.pop(place, None)
    kept[place] = [op]
