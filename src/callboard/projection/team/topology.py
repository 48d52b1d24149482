"""How the work of a session is organised (Agent UI specification, Team topology taxonomy), as facts show it.

What agents did says more than who joined: a way of working is shown once a fact of its kind is, and only where none is shown,
who is there decides. So a background agent that merely sleeps beside a coordinator and its workers leaves them a coordinator's
team; once it wakes, or where nothing else was done yet, the team is one with a background teammate. Of several that are
shown the first of `_RANKS` is told.

remote_teammate      an agent elsewhere told of a task, or something was handed over to it
background_teammate  a background agent woke
human_agent_board    a person who is an agent was given a task or a handoff, or gave one
review_team          a review was asked for
specialist_handoff   the ownership of the session is asked for; or one main handed over to another and stopped to work
parallel_workers     several children were at work at once
coordinator_team     an agent was given a child
"""

from __future__ import annotations

import msgspec

from callboard.contracts.facts import (
    AgentWoke,
    Fact,
    HandoffRejected,
    HandoffRequested,
    RemoteArtifact,
    RemoteTaskChanged,
    ReviewRequested,
    SubagentsAwaited,
    SubagentSpawned,
    TaskCreated,
    TaskUpdated,
    TeamChanged,
    ThreadOpened,
    TurnCompleted,
    TurnFailed,
    TurnInterrupted,
)
from callboard.contracts.facts.thread import AgentKind
from callboard.contracts.record import Record
from callboard.contracts.rows.team import Topology

#: The facts that show how work is organised.
TAKES: frozenset[type[Fact]] = frozenset(
    {
        ThreadOpened,
        SubagentSpawned,
        SubagentsAwaited,
        TeamChanged,
        ReviewRequested,
        HandoffRequested,
        HandoffRejected,
        AgentWoke,
        RemoteTaskChanged,
        RemoteArtifact,
        TaskCreated,
        TaskUpdated,
        TurnCompleted,
        TurnFailed,
        TurnInterrupted,
    }
)
#: Which says most, first to last.
_RANKS: tuple[Topology, ...] = (
    "remote_teammate",
    "background_teammate",
    "human_agent_board",
    "review_team",
    "specialist_handoff",
    "parallel_workers",
    "coordinator_team",
)
_OF_KIND: dict[AgentKind, Topology] = {
    "remote": "remote_teammate",
    "background": "background_teammate",
    "human": "human_agent_board",
}


class TopologyState(msgspec.Struct):
    """`kinds` are the agents that are no ordinary child, by id; `shown` the ways of working that facts showed, `there` those
    that only who joined speaks for. `handed` are the threads of mains that handed over to another main and are still at work,
    by handoff."""

    kinds: dict[str, AgentKind] = msgspec.field(default_factory=dict[str, AgentKind])
    shown: set[Topology] = msgspec.field(default_factory=set[Topology])
    there: set[Topology] = msgspec.field(default_factory=set[Topology])
    handed: dict[str, str] = msgspec.field(default_factory=dict[str, str])

    def take(self, record: Record) -> None:
        """Takes in what a fact shows."""
        match record.fact:
            case ThreadOpened() as fact:
                self._join(record, fact)
            case SubagentSpawned():
                self.shown.add("coordinator_team")
            case TeamChanged() as fact if fact.active_count > 1:
                self.shown.add("parallel_workers")
            case ReviewRequested():
                self.shown.add("review_team")
            case HandoffRequested() as fact:
                self._handed(record, fact)
            case AgentWoke():
                self.shown.add("background_teammate")
            case RemoteTaskChanged() | RemoteArtifact():
                self.shown.add("remote_teammate")
            case TaskCreated() | TaskUpdated() as fact if fact.assignee and self.kinds.get(fact.assignee) == "human":
                self.shown.add("human_agent_board")
            case HandoffRejected():
                self.handed.pop(record.scope.handoff, None)
            case TurnCompleted() | TurnFailed() | TurnInterrupted() | SubagentsAwaited() if self.handed:
                self._stopped(record.scope.thread)
            case _:
                pass

    def topology(self) -> Topology:
        """What says most."""
        if not self.kinds and not self.shown:
            return "solo_run"
        found = self.shown or self.there
        for one in _RANKS:
            if one in found:
                return one
        return "coordinator_team"

    def _join(self, record: Record, fact: ThreadOpened) -> None:
        if record.scope.parent_thread and fact.kind not in _OF_KIND:
            return
        self.kinds[record.scope.agent] = fact.kind
        if fact.kind in _OF_KIND:
            self.there.add(_OF_KIND[fact.kind])

    def _handed(self, record: Record, fact: HandoffRequested) -> None:
        between = (self.kinds.get(fact.source), self.kinds.get(fact.target))
        if "remote" in between:
            self.shown.add("remote_teammate")
        if "human" in between:
            self.shown.add("human_agent_board")
        if fact.ownership:
            self.shown.add("specialist_handoff")
        elif fact.edge == "handoff" and between == ("main", "main"):
            self.handed[record.scope.handoff] = record.scope.thread

    def _stopped(self, thread: str) -> None:
        left = {handoff: one for handoff, one in self.handed.items() if one != thread}
        if len(left) < len(self.handed):
            self.handed = left
            self.shown.add("specialist_handoff")
