"""The panels of a team together: each fact goes to those that it is for."""

from __future__ import annotations

import msgspec

from callboard.contracts.record import Record
from callboard.contracts.rows import Op

from . import roster, runs, tasks
from .roster import RosterPanel
from .runs import RunsPanel
from .tasks import TasksPanel


class TeamPanels(msgspec.Struct):
    """What the panels of a team keep of what is open."""

    roster: RosterPanel = msgspec.field(default_factory=RosterPanel)
    tasks: TasksPanel = msgspec.field(default_factory=TasksPanel)
    runs: RunsPanel = msgspec.field(default_factory=RunsPanel)

    def apply(self, record: Record) -> list[Op]:
        """The operations of the fact."""
        kind = type(record.fact)
        ops: list[Op] = []
        if kind in roster.TAKES:
            ops += self.roster.apply(record)
        if kind in tasks.TAKES:
            ops += self.tasks.apply(record)
        if kind in runs.TAKES:
            ops += self.runs.apply(record)
        return ops
