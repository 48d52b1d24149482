"""The panels of a team together: each fact goes to those that it is for."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from callboard.contracts.facts import FACTS, Fact
from callboard.contracts.record import Record
from callboard.contracts.rows import Op

from ..task import board as tasks
from ..task.board import TasksPanel
from . import agent_changes, edges, handoffs, messages, notifications, reviews, roster, runs, team
from .edges import EdgesPanel
from .handoffs import HandoffsPanel
from .messages import MessagesPanel
from .notifications import NotificationsPanel
from .reviews import ReviewsPanel
from .roster import RosterPanel
from .runs import RunsPanel
from .team import TeamPanel


class TeamPanels(msgspec.Struct):
    """What the panels of a team keep of what is open."""

    team: TeamPanel = msgspec.field(default_factory=TeamPanel)
    roster: RosterPanel = msgspec.field(default_factory=RosterPanel)
    tasks: TasksPanel = msgspec.field(default_factory=TasksPanel)
    edges: EdgesPanel = msgspec.field(default_factory=EdgesPanel)
    notifications: NotificationsPanel = msgspec.field(default_factory=NotificationsPanel)
    handoffs: HandoffsPanel = msgspec.field(default_factory=HandoffsPanel)
    reviews: ReviewsPanel = msgspec.field(default_factory=ReviewsPanel)
    messages: MessagesPanel = msgspec.field(default_factory=MessagesPanel)
    runs: RunsPanel = msgspec.field(default_factory=RunsPanel)

    def apply(self, record: Record) -> list[Op]:
        """The operations of the fact, in the order of the panels. What only several agents or a task can change is not asked
        of a solo run."""
        kind = type(record.fact)
        ops: list[Op] = []
        steps = (_ALL if self.roster.several or self.tasks.open else _SOLO).get(kind, ())
        for step in steps:
            ops += step(self, record)
        if steps and self.roster.several:
            ops += self.team.lacks(record, self.roster.degraded())
        return ops


_Step = Callable[[TeamPanels, Record], list[Op]]
#: The panels in their order, each with the facts that it is for.
_STEPS: tuple[tuple[frozenset[type[Fact]], _Step], ...] = (
    (team.TAKES, lambda panels, record: panels.team.apply(record)),
    (roster.TAKES, lambda panels, record: panels.roster.apply(record)),
    (tasks.TAKES, lambda panels, record: panels.tasks.apply(record)),
    (edges.TAKES, lambda panels, record: panels.edges.apply(record)),
    (notifications.TAKES, lambda panels, record: panels.notifications.apply(record, panels.roster.members)),
    (handoffs.TAKES, lambda panels, record: panels.handoffs.apply(record)),
    (reviews.TAKES, lambda panels, record: panels.reviews.apply(record)),
    (messages.TAKES, lambda panels, record: panels.messages.apply(record)),
    (runs.TAKES, lambda panels, record: panels.runs.apply(record, panels.roster.members.get(record.scope.thread))),
)
_ALL: dict[type[Fact], tuple[_Step, ...]] = {
    kind: tuple(step for takes, step in _STEPS if kind in takes) for kind in FACTS.values()
}
#: Facts of every run, and the panels of them that a solo run has or gets with its second agent.
_OF_RUNS = frozenset(agent_changes.TAKES)
_SOLO: dict[type[Fact], tuple[_Step, ...]] = {
    kind: steps
    if kind not in _OF_RUNS
    else tuple(step for takes, step in _STEPS if kind in takes and takes in (team.TAKES, roster.TAKES, runs.TAKES))
    for kind, steps in _ALL.items()
}
