"""The rows that a client of a session gets first: the shell, the newest turns with their parts and runs, what is queued and
pending, and the team."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

import msgspec

from callboard.contracts.ports.store import RowStore
from callboard.contracts.rows import (
    SESSION_PANELS,
    ActionRow,
    AgentRow,
    ArtifactRow,
    ContextRow,
    EdgeRow,
    HandoffRow,
    MessageRow,
    NotificationRow,
    Op,
    Part,
    ProcessRow,
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
_SHELL: tuple[type[Row], ...] = (SessionRow, StatusRow, TurnRow, Part, QueueRow, ActionRow)
#: The kinds of which there is one for each turn, or more.
_BY_TURN = (TurnRow.panel, RunRow.panel)
#: How many turns are looked through for those of the lead where a team has others.
_LOOKED_THROUGH = 1000
#: How many of the newest artifacts are kept.
_ARTIFACTS = 300
#: States in which nothing more comes of an agent or a task by itself.
_OVER = frozenset({"completed", "killed", "closed", "done", "cancelled"})
RowT = TypeVar("RowT", bound=Row)


class Window:
    """The newest rows of a session, kept by the same operations that clients get, and cut to the newest turns: so many of
    the lead's, and so many of all others together."""

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
        if any(op.panel == ArtifactRow.panel for op in shown):
            beyond = self._table.panel(ArtifactRow)[:-_ARTIFACTS]
            self._table.apply(Remove(ArtifactRow.panel, row.key) for row in beyond)

    async def load(self, kept: RowStore, session: str) -> None:
        """Takes what was written: the panels that are short, the newest turns and runs, and their parts."""
        ops: list[Op] = []
        team = await kept.rows(session, TeamRow.panel, limit=1)
        turns = _LOOKED_THROUGH if team else self._turns
        for panel in SESSION_PANELS:
            limit = turns if panel in _BY_TURN else 1000
            largest = self._largest if panel == Part.panel else 1_000_000
            ops.extend(Upsert(panel, row) for row in await kept.rows(session, panel, limit=limit, largest=largest))
        self.apply(ops)

    def rows(self, kind: type[RowT]) -> list[RowT]:
        """The window's rows of a kind, in order."""
        return self._table.panel(kind)

    def snapshot(self) -> list[Op]:
        """The window as operations on empty panels. Of a team, the artifacts, contexts, processes and parts, what fits; the
        rest is had on demand."""
        team = [row for kind in _TEAM for row in self._table.panel(kind)]
        fits, room = _that_fit(sorted(team, key=_rank), self._largest // 2)
        kept = {(row.panel, row.key) for row in fits}
        beside = [
            row
            for kind in (ArtifactRow, ContextRow, ProcessRow)
            for row in _that_fit(self._table.panel(kind), self._largest // 8)[0]
        ]
        parts, _ = _that_fit(self._table.panel(Part), room + self._largest - self._largest // 2)
        return [
            *(
                Upsert(kind.panel, row)
                for kind in _SHELL
                for row in (parts if kind is Part else self._table.panel(kind))
            ),
            *(Upsert(row.panel, row) for row in beside),
            *(Upsert(row.panel, row) for row in team if (row.panel, row.key) in kept),
        ]

    def _cut(self) -> None:
        begun = [row for row in self._table.panel(TurnRow) if row.started_at]
        if len(begun) <= self._turns:
            return
        lead = next((row.thread_id for row in self._table.panel(StatusRow)), "")
        for own in (True, False):
            turns = [row for row in begun if (row.thread_id == lead) is own]
            ended = [row for row in turns if row.ended_at]
            for row in ended[: max(0, len(turns) - self._turns)]:
                self._table.apply([Remove(TurnRow.panel, row.key)])
                self._table.apply(Remove(panel, key) for panel, key in self._of_turn.pop(row.turn_id, ()))


def _that_fit(rows: Sequence[RowT], room: int) -> tuple[list[RowT], int]:
    """The last of the rows that fit, in their order and at least one, and the bytes that are left."""
    kept: list[RowT] = []
    for row in reversed(rows):
        size = len(_encoder.encode(row))
        if size > room and kept:
            break
        room -= size
        kept.append(row)
    kept.reverse()
    return kept, max(room, 0)


def _rank(row: Row) -> tuple[bool, bool, int]:
    """Which rows of a team stay where not all fit: the team's own, agents without a parent, jobs, what is not over, the
    newest. The items of a job are newer than it is, and many."""
    match row:
        case TeamRow():
            return True, True, row.order
        case AgentRow():
            return not row.parent_thread_id, row.state not in _OVER, row.order
        case TaskRow():
            return row.items is not None, row.status not in _OVER, row.order
        case RunRow():
            return False, row.status == "running", row.order
        case _:
            return False, False, row.order
