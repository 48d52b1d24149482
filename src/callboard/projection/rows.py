"""A table of rows, as a browser has it, for tests, the terminal and scripts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

import msgspec

from callboard.contracts.errors import Refusal
from callboard.contracts.rows.base import AppendText, Op, Remove, Row, Upsert

RowT = TypeVar("RowT", bound=Row)
_READ_AGAIN = "Read the panel again."


class _Growing(msgspec.Struct, gc=False):
    """A field that grows by appends. Reading the row joins its pieces."""

    pieces: list[str]
    length: int


class Table:
    """Rows by panel and key."""

    def __init__(self, ops: Iterable[Op] = ()) -> None:
        self._rows: dict[str, dict[str, Row]] = {}
        self._growing: dict[tuple[str, str, str], _Growing] = {}
        self.apply(ops)

    def apply(self, ops: Iterable[Op]) -> None:
        """Apply the operations in order.

        Raises:
            Refusal: `gap`, if text before an append is missing.
        """
        for op in ops:
            match op:
                case Upsert():
                    if self._growing:
                        self._forget(op.panel, op.row.key)
                    self._rows.setdefault(op.panel, {})[op.row.key] = op.row
                case Remove():
                    if self._growing:
                        self._forget(op.panel, op.key)
                    self._rows.get(op.panel, {}).pop(op.key, None)
                case AppendText():
                    self._append(op)

    def list_rows(self, kind: type[RowT]) -> list[RowT]:
        """Return the rows of a kind in the panel's order."""
        rows = self._rows.get(kind.panel, {})
        settled = [row for key in rows if isinstance(row := self._settle(kind.panel, key), kind)]
        return sorted(settled, key=lambda row: (row.order, row.key))

    def get_row(self, kind: type[RowT], key: str) -> RowT | None:
        """Return the row of a kind and key, or None."""
        row = self._settle(kind.panel, key)
        return row if isinstance(row, kind) else None

    def group_rows(self) -> dict[str, list[Row]]:
        """Return the rows of each panel that has rows."""
        return {
            panel: sorted(
                (row for key in rows if (row := self._settle(panel, key))), key=lambda row: (row.order, row.key)
            )
            for panel, rows in sorted(self._rows.items())
            if rows
        }

    def _append(self, op: AppendText) -> None:
        row = self._rows.get(op.panel, {}).get(op.key)
        if row is None:
            raise Refusal(
                "gap",
                f"Text arrived for row {op.key} of panel {op.panel}, which does not exist.",
                hint=_READ_AGAIN,
            )
        text_key = (op.panel, op.key, op.field)
        growing = self._growing.get(text_key)
        if growing is None:
            text = getattr(row, op.field).text
            growing = self._growing[text_key] = _Growing([text], len(text))
        if op.offset > growing.length:
            raise Refusal(
                "gap",
                f"Text of row {op.key} is missing between {growing.length} and {op.offset}.",
                hint=_READ_AGAIN,
            )
        new = op.text[growing.length - op.offset :]
        growing.pieces.append(new)
        growing.length += len(new)

    def _settle(self, panel: str, key: str) -> Row | None:
        row = self._rows.get(panel, {}).get(key)
        if row is None or not self._growing:
            return row
        for text_key in [text_key for text_key in self._growing if text_key[:2] == (panel, key)]:
            growing = self._growing.pop(text_key)
            field = msgspec.structs.replace(getattr(row, text_key[2]), text="".join(growing.pieces))
            row = self._rows[panel][key] = msgspec.structs.replace(row, **{text_key[2]: field})
        return row

    def _forget(self, panel: str, key: str) -> None:
        for text_key in [text_key for text_key in self._growing if text_key[:2] == (panel, key)]:
            del self._growing[text_key]


def compact(ops: Iterable[Op]) -> list[Op]:
    """Drop the operations that a later operation of the batch replaces."""
    latest: dict[tuple[str, str], list[Op]] = {}
    for op in ops:
        match op:
            case AppendText():
                latest.setdefault((op.panel, op.key), []).append(op)
            case Upsert():
                _replace(latest, (op.panel, op.row.key), op)
            case Remove():
                _replace(latest, (op.panel, op.key), op)
    return [op for group in latest.values() for op in group]


def _replace(latest: dict[tuple[str, str], list[Op]], key: tuple[str, str], op: Op) -> None:
    latest.pop(key, None)
    latest[key] = [op]
