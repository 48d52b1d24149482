"""The panels of a team. A fact goes to the panels with a handler for it."""

from __future__ import annotations

from collections.abc import Callable, Container

import msgspec

from callboard.contracts.facts import FACTS
from callboard.contracts.facts.base import Fact
from callboard.contracts.record import Record
from callboard.contracts.rows.base import Op

from ..task.board import TasksPanel
from .agent_changes import CHANGES
from .background import Sleeper
from .edges import EdgesPanel
from .handoffs import HandoffsPanel
from .messages import MessagesPanel
from .notifications import NotificationsPanel
from .reviews import ReviewsPanel
from .roster import ROSTER_FACTS, RosterPanel
from .runs import RunsPanel
from .team import TEAM_FACTS, TeamPanel


class TeamPanels(msgspec.Struct):
    """The state of a team's panels."""

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
        """Return the row operations of the fact, in the order of the panels."""
        ops: list[Op] = []
        steps = (_STEPS if self.roster.several or self.tasks.open else _SOLO_STEPS).get(type(record.fact), ())
        for step in steps:
            ops += step(self, record)
        if steps and self.roster.several:
            ops += self.team.apply_degraded(record, self.roster.degraded())
        return ops


_Step = Callable[[TeamPanels, Record], list[Op]]
#: The panels that a solo run has, in their order, with their facts.
_TEAM: tuple[Container[type[Fact]], _Step] = (TEAM_FACTS, lambda panels, record: panels.team.apply(record))
_ROSTER: tuple[Container[type[Fact]], _Step] = (ROSTER_FACTS, lambda panels, record: panels.roster.apply(record))
_RUNS: tuple[Container[type[Fact]], _Step] = (
    RunsPanel.HANDLERS,
    lambda panels, record: panels.runs.apply(record, panels.roster.members.get(record.scope.thread)),
)
_PANELS: tuple[tuple[Container[type[Fact]], _Step], ...] = (
    _TEAM,
    _ROSTER,
    (TasksPanel.HANDLERS, lambda panels, record: panels.tasks.apply(record)),
    (EdgesPanel.HANDLERS, lambda panels, record: panels.edges.apply(record)),
    (
        NotificationsPanel.HANDLERS,
        lambda panels, record: panels.notifications.apply(record, panels.roster.members),
    ),
    (HandoffsPanel.HANDLERS, lambda panels, record: panels.handoffs.apply(record)),
    (ReviewsPanel.HANDLERS, lambda panels, record: panels.reviews.apply(record)),
    (MessagesPanel.HANDLERS, lambda panels, record: panels.messages.apply(record)),
    _RUNS,
)
_STEPS: dict[type[Fact], tuple[_Step, ...]] = {
    fact: tuple(step for facts, step in _PANELS if fact in facts) for fact in FACTS.values()
}
#: Facts of every run change only these panels until there is a task or a second agent.
_SOLO_STEPS: dict[type[Fact], tuple[_Step, ...]] = {
    fact: tuple(step for facts, step in (_TEAM, _ROSTER, _RUNS) if fact in facts)
    if fact in CHANGES or fact in Sleeper.HANDLERS
    else steps
    for fact, steps in _STEPS.items()
}
