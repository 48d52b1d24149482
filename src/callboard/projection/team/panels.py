"""The panels of a team. A fact goes to the panels with a handler for it."""

from __future__ import annotations

import msgspec

from callboard.contracts.record import Record
from callboard.contracts.rows.base import Op

from ..reducer import Reducer, Step, map_steps
from ..task.board import TasksPanel
from .agent_changes import CHANGES
from .background import Sleeper
from .edges import EdgesPanel
from .handoffs import HandoffsPanel
from .messages import MessagesPanel
from .notifications import NotificationsPanel
from .reviews import ReviewsPanel
from .roster import RosterPanel
from .runs import RunsPanel
from .team import TeamPanel


class TeamPanels(Reducer):
    """The state of a team's panels."""

    USES = (
        TeamPanel.FACTS,
        RosterPanel.FACTS,
        TasksPanel.FACTS,
        EdgesPanel.FACTS,
        NotificationsPanel.FACTS,
        HandoffsPanel.FACTS,
        ReviewsPanel.FACTS,
        MessagesPanel.FACTS,
        RunsPanel.FACTS,
    )
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
        steps = (_STEPS if self.roster.several or self.tasks.open else _SOLO_STEPS)[type(record.fact)]
        for step in steps:
            ops += step(self, record)
        if steps and self.roster.several:
            ops += self.team.apply_degraded(record, self.roster.list_degraded())
        return ops


_TEAM: Step[TeamPanels] = (TeamPanel.FACTS, lambda panels, record: panels.team.apply(record))
_ROSTER: Step[TeamPanels] = (RosterPanel.FACTS, lambda panels, record: panels.roster.apply(record))
_RUNS: Step[TeamPanels] = (
    RunsPanel.FACTS,
    lambda panels, record: panels.runs.apply(record, panels.roster.members.get(record.scope.thread)),
)
_STEPS = map_steps(
    _TEAM,
    _ROSTER,
    (TasksPanel.FACTS, lambda panels, record: panels.tasks.apply(record)),
    (EdgesPanel.FACTS, lambda panels, record: panels.edges.apply(record)),
    (NotificationsPanel.FACTS, lambda panels, record: panels.notifications.apply(record, panels.roster.members)),
    (HandoffsPanel.FACTS, lambda panels, record: panels.handoffs.apply(record)),
    (ReviewsPanel.FACTS, lambda panels, record: panels.reviews.apply(record)),
    (MessagesPanel.FACTS, lambda panels, record: panels.messages.apply(record)),
    _RUNS,
)
#: Facts of every run change only these panels until there is a task or a second agent.
_SOLO_STEPS = {
    **_STEPS,
    **{fact: steps for fact, steps in map_steps(_TEAM, _ROSTER, _RUNS).items() if fact in {*CHANGES, *Sleeper.FACTS}},
}
