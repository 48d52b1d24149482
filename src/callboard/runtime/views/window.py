"""The rows that a client of a session gets first: the shell, the newest turns with their parts and runs, what is queued and
pending, and the team."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

import msgspec

from callboard.contracts.ports.store import RowStore
from callboard.contracts.rows import (
    SESSION_PANELS,
    ActionRow,
    AgentRow,
    EdgeRow,
    HandoffRow,
    MessageRow,
    NotificationRow,
    Op,
    Part,
    QueueRow,
    Remove,
    ReviewRow,
    Row,
    RunRow,
    SessionRow,
    StatusRow,
    TaskRow,
    TeamRow,
    TurnRow,
    Upsert,
)
from callboard.projection.rows import Table

_encoder = msgspec.json.Encoder()
_TEAM: tuple[type[Row], ...] = (
    TeamRow,
    AgentRow,
    TaskRow,
    EdgeRow,
    NotificationRow,
    HandoffRow,
    ReviewRow,
    MessageRow,
    RunRow,
)
_KINDS: tuple[type[Row], ...] = (SessionRow, StatusRow, TurnRow, Part, QueueRow, ActionRow, *_TEAM)
#: The kinds of which there is one for each turn, or more.
_BY_TURN = (TurnRow.panel, RunRow.panel)
RowT = TypeVar("RowT", bound=Row)


class Window:
    """The newest rows of a session, kept by the same operations that clients get, and cut to the newest turns."""

    def __init__(self, turns: int, largest: int) -> None:
        self._turns = turns
        self._largest = largest
        self._table = Table()
        self._of_turn: dict[str, set[tuple[str, str]]] = {}

    def apply(self, ops: Iterable[Op]) -> None:
        """Changes the rows; turns beyond the newest fall out with their parts and runs."""
        shown = [op for op in ops if op.panel in SESSION_PANELS]
        self._table.apply(shown)
        for op in shown:
            if isinstance(op, Upsert) and isinstance(op.row, Part | RunRow):
                self._of_turn.setdefault(op.row.turn_id, set()).add((op.panel, op.row.key))
        if any(isinstance(op, Upsert) and op.panel == TurnRow.panel for op in shown):
            self._cut()

    async def load(self, kept: RowStore, session: str) -> None:
        """Takes what was written: the panels that are short, the newest turns and runs, and their parts."""
        ops: list[Op] = []
        for panel in SESSION_PANELS:
            limit = self._turns if panel in _BY_TURN else 1000
            largest = self._largest if panel == Part.panel else 1_000_000
            ops.extend(Upsert(panel, row) for row in await kept.rows(session, panel, limit=limit, largest=largest))
        self.apply(ops)

    def rows(self, kind: type[RowT]) -> list[RowT]:
        """The window's rows of a kind, in order."""
        return self._table.panel(kind)

    def snapshot(self) -> list[Op]:
        """The window as operations on empty panels. Of the parts, the newest that fit; the rest is had on demand."""
        return [
            Upsert(kind.panel, row)
            for kind in _KINDS
            for row in (self._parts_that_fit() if kind is Part else self._table.panel(kind))
        ]

    def _parts_that_fit(self) -> list[Part]:
        room = self._largest
        kept: list[Part] = []
        for row in reversed(self._table.panel(Part)):
            room -= len(_encoder.encode(row))
            if room < 0 and kept:
                break
            kept.append(row)
        kept.reverse()
        return kept

    def _cut(self) -> None:
        begun = [row for row in self._table.panel(TurnRow) if row.started_at]
        ended = [row for row in begun if row.ended_at]
        for row in ended[: max(0, len(begun) - self._turns)]:
            self._table.apply([Remove(TurnRow.panel, row.key)])
            self._table.apply(Remove(panel, key) for panel, key in self._of_turn.pop(row.turn_id, ()))
