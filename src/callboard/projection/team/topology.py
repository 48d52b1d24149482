"""How the work of a session is organised (Agent UI specification, Team topology taxonomy).

Actions decide: a topology applies once a fact of its kind exists. Only without such a fact do the kinds of the agents decide.
A background agent that sleeps beside a coordinator and its workers leaves the topology `coordinator_team`; once it wakes, the
topology is `background_teammate`. Of several topologies, the first of `_RANKS` applies.

remote_teammate      a remote agent reported a task, or received a handoff
background_teammate  a background agent woke
human_agent_board    a person who is an agent received a task or a handoff, or sent a handoff
review_team          an agent requested a review
specialist_handoff   an agent requested a transfer of ownership, or a main agent handed off to another and stopped
parallel_workers     several children worked at the same time
coordinator_team     an agent has a child
"""

from __future__ import annotations

import msgspec

from callboard.contracts.facts.agent import AgentWoke, RemoteArtifact, RemoteTaskChanged
from callboard.contracts.facts.exchange.handoff import HandoffRejected, HandoffRequested
from callboard.contracts.facts.exchange.review import ReviewRequested
from callboard.contracts.facts.session import AgentKind, ThreadOpened
from callboard.contracts.facts.subagent import SubagentsAwaited, SubagentSpawned, TeamChanged
from callboard.contracts.facts.task import TaskCreated, TaskUpdated
from callboard.contracts.facts.turn import TurnEndFact
from callboard.contracts.record import Record
from callboard.contracts.rows.team import Topology

from ..reducer import Reducer, on

#: The topologies by rank: of several, the first is the session's.
_RANKS: tuple[Topology, ...] = (
    "remote_teammate",
    "background_teammate",
    "human_agent_board",
    "review_team",
    "specialist_handoff",
    "parallel_workers",
    "coordinator_team",
)
_BY_KIND: dict[AgentKind, Topology] = {
    "remote": "remote_teammate",
    "background": "background_teammate",
    "human": "human_agent_board",
}


class TopologyState(Reducer):
    """The topologies that the facts show.

    Attributes:
        kinds: The kind of each agent that is not an ordinary child, by id.
        active: The topologies that agents' actions show.
        joined: The topologies that only the kinds of agents show.
        handed_off: The threads of main agents that handed off to a main agent and are still working, by handoff.
    """

    kinds: dict[str, AgentKind] = msgspec.field(default={})
    active: set[Topology] = msgspec.field(default=set())
    joined: set[Topology] = msgspec.field(default=set())
    handed_off: dict[str, str] = msgspec.field(default={})

    def find_topology(self) -> Topology:
        """Return the first topology of `_RANKS` that the facts show."""
        if not self.kinds and not self.active:
            return "solo_run"
        topologies = self.active or self.joined
        for topology in _RANKS:
            if topology in topologies:
                return topology
        return "coordinator_team"

    @on
    def join(self, record: Record, fact: ThreadOpened) -> None:
        if record.scope.parent_thread and fact.kind not in _BY_KIND:
            return
        self.kinds[record.scope.agent] = fact.kind
        if fact.kind in _BY_KIND:
            self.joined.add(_BY_KIND[fact.kind])

    @on
    def spawn(self, record: Record, fact: SubagentSpawned) -> None:
        self.active.add("coordinator_team")

    @on
    def record_load(self, record: Record, fact: TeamChanged) -> None:
        if fact.active_count > 1:
            self.active.add("parallel_workers")

    @on
    def review(self, record: Record, fact: ReviewRequested) -> None:
        self.active.add("review_team")

    @on
    def wake(self, record: Record, fact: AgentWoke) -> None:
        self.active.add("background_teammate")

    @on
    def work_remotely(self, record: Record, fact: RemoteTaskChanged | RemoteArtifact) -> None:
        self.active.add("remote_teammate")

    @on
    def assign(self, record: Record, fact: TaskCreated | TaskUpdated) -> None:
        if fact.assignee and self.kinds.get(fact.assignee) == "human":
            self.active.add("human_agent_board")

    @on
    def hand_off(self, record: Record, fact: HandoffRequested) -> None:
        kinds = (self.kinds.get(fact.source), self.kinds.get(fact.target))
        if "remote" in kinds:
            self.active.add("remote_teammate")
        if "human" in kinds:
            self.active.add("human_agent_board")
        if fact.ownership:
            self.active.add("specialist_handoff")
        elif fact.edge == "handoff" and kinds == ("main", "main"):
            self.handed_off[record.scope.handoff] = record.scope.thread

    @on
    def reject_handoff(self, record: Record, fact: HandoffRejected) -> None:
        self.handed_off.pop(record.scope.handoff, None)

    @on
    def stop(self, record: Record, fact: TurnEndFact | SubagentsAwaited) -> None:
        """Count a handoff once its sender, a main agent, stops."""
        thread = record.scope.thread
        remaining = {handoff: other for handoff, other in self.handed_off.items() if other != thread}
        if len(remaining) < len(self.handed_off):
            self.handed_off = remaining
            self.active.add("specialist_handoff")
