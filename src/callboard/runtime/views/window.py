"""The rows that a client of a session receives first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

import msgspec

from callboard.contracts.ports.store import RowStore
from callboard.contracts.rows import SESSION_PANELS
from callboard.contracts.rows.action import ActionRow
from callboard.contracts.rows.agent import AgentRow
from callboard.contracts.rows.artifact import ArtifactRow
from callboard.contracts.rows.base import Op, Remove, Row, Upsert
from callboard.contracts.rows.context import ContextRow
from callboard.contracts.rows.exchange.handoff import HandoffRow
from callboard.contracts.rows.exchange.review import ReviewRow
from callboard.contracts.rows.message import MessageRow
from callboard.contracts.rows.part import Part
from callboard.contracts.rows.process import ProcessRow
from callboard.contracts.rows.queue import QueueRow
from callboard.contracts.rows.run import RunRow
from callboard.contracts.rows.session import SessionRow
from callboard.contracts.rows.status import StatusRow
from callboard.contracts.rows.subagent import NotificationRow
from callboard.contracts.rows.task import TaskRow
from callboard.contracts.rows.team import EdgeRow, TeamRow
from callboard.contracts.rows.turn import TurnRow
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
#: Panels with one row or more per turn.
_BY_TURN = (TurnRow.panel, RunRow.panel)
#: Number of stored turns that are searched for the lead's turns in a team.
_TEAM_TURNS = 1000
#: Number of newest artifacts in the window.
_MAX_ARTIFACTS = 300
#: Final states of agents and tasks.
_TERMINAL = frozenset({"completed", "killed", "closed", "done", "cancelled"})
RowT = TypeVar("RowT", bound=Row)


class Window:
    """The newest rows of a session: at most `turns` turns of the lead, and as many of all other agents."""

    def __init__(self, turns: int, max_bytes: int) -> None:
        self._turns = turns
        self._max_bytes = max_bytes
        self._table = Table()
        self._turn_rows: dict[str, set[tuple[str, str]]] = {}

    def apply(self, ops: Iterable[Op]) -> None:
        """Apply operations. Older turns leave the window with their parts and runs."""
        visible = [op for op in ops if op.panel in SESSION_PANELS]
        self._table.apply(visible)
        for op in visible:
            if isinstance(op, Upsert) and isinstance(op.row, (Part, RunRow)):
                self._turn_rows.setdefault(op.row.turn_id, set()).add((op.panel, op.row.key))
        if any(isinstance(op, Upsert) and op.panel == TurnRow.panel for op in visible):
            self._cut()
        if any(op.panel == ArtifactRow.panel for op in visible):
            beyond = self._table.list_rows(ArtifactRow)[:-_MAX_ARTIFACTS]
            self._table.apply(Remove(ArtifactRow.panel, row.key) for row in beyond)

    async def load(self, store: RowStore, session: str) -> None:
        """Load stored rows: whole short panels, and the newest turns with their runs and parts."""
        ops: list[Op] = []
        team = await store.read_rows(session, TeamRow.panel, limit=1)
        turns = _TEAM_TURNS if team else self._turns
        for panel in SESSION_PANELS:
            limit = turns if panel in _BY_TURN else 1000
            max_bytes = self._max_bytes if panel == Part.panel else 1_000_000
            ops.extend(
                Upsert(panel, row) for row in await store.read_rows(session, panel, limit=limit, max_bytes=max_bytes)
            )
        self.apply(ops)

    def rows(self, kind: type[RowT]) -> list[RowT]:
        """Return the window's rows of a kind, in order."""
        return self._table.list_rows(kind)

    def snapshot(self) -> list[Op]:
        """Return the window as operations on empty panels.

        Team, artifact, context, process and part rows are limited by size. Clients read the rest on
        demand.
        """
        team = [row for kind in _TEAM for row in self._table.list_rows(kind)]
        fitting, free_bytes = _fit_newest(sorted(team, key=_rank), self._max_bytes // 2)
        kept_keys = {(row.panel, row.key) for row in fitting}
        side_rows = [
            row
            for kind in (ArtifactRow, ContextRow, ProcessRow)
            for row in _fit_newest(self._table.list_rows(kind), self._max_bytes // 8)[0]
        ]
        parts, _ = _fit_newest(self._table.list_rows(Part), free_bytes + self._max_bytes - self._max_bytes // 2)
        return [
            *(
                Upsert(kind.panel, row)
                for kind in _SHELL
                for row in (parts if kind is Part else self._table.list_rows(kind))
            ),
            *(Upsert(row.panel, row) for row in side_rows),
            *(Upsert(row.panel, row) for row in team if (row.panel, row.key) in kept_keys),
        ]

    def _cut(self) -> None:
        started = [row for row in self._table.list_rows(TurnRow) if row.started_at]
        if len(started) <= self._turns:
            return
        lead = next((row.thread_id for row in self._table.list_rows(StatusRow)), "")
        for is_lead in (True, False):
            turns = [row for row in started if (row.thread_id == lead) is is_lead]
            ended = [row for row in turns if row.ended_at]
            for row in ended[: max(0, len(turns) - self._turns)]:
                self._table.apply([Remove(TurnRow.panel, row.key)])
                self._table.apply(Remove(panel, key) for panel, key in self._turn_rows.pop(row.turn_id, ()))


def _fit_newest(rows: Sequence[RowT], remaining_bytes: int) -> tuple[list[RowT], int]:
    """Return the newest rows within `remaining_bytes`, at least one, in order, and the remaining bytes."""
    fitting: list[RowT] = []
    for row in reversed(rows):
        size = len(_encoder.encode(row))
        if size > remaining_bytes and fitting:
            break
        remaining_bytes -= size
        fitting.append(row)
    fitting.reverse()
    return fitting, max(remaining_bytes, 0)


def _rank(row: Row) -> tuple[bool, bool, int]:
    """Return the sort key of team rows; higher rows stay.

    Order: the team itself, agents without a parent, jobs, rows in a non-final state, newer rows.
    Job items are newer than their job, and many.
    """
    match row:
        case TeamRow():
            return True, True, row.order
        case AgentRow():
            return not row.parent_thread_id, row.state not in _TERMINAL, row.order
        case TaskRow():
            return row.items is not None, row.status not in _TERMINAL, row.order
        case RunRow():
            return False, row.status == "running", row.order
        case _:
            return False, False, row.order
