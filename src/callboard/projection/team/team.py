"""The team as a whole: who leads, who owns the session, how its work is organised, and how much of it is under way."""

from __future__ import annotations

import msgspec

from callboard.contracts.facts import (
    Fact,
    HandoffAccepted,
    HandoffCompleted,
    HandoffRequested,
    ReviewRequested,
    SessionCreated,
    SubagentStarted,
    TeamChanged,
    ThreadOpened,
    TurnStarted,
)
from callboard.contracts.record import Record
from callboard.contracts.rows import Op, TeamRow
from callboard.contracts.rows.team import Topology
from callboard.contracts.team import TeamPhase

from ..ops import upsert

#: The facts that change the team's row.
TAKES: frozenset[type[Fact]] = frozenset(
    {
        SessionCreated,
        ThreadOpened,
        TurnStarted,
        TeamChanged,
        SubagentStarted,
        HandoffRequested,
        HandoffAccepted,
        HandoffCompleted,
        ReviewRequested,
    }
)
#: Which way of organising work says most, first to last: each is there once a fact of its kind is.
_RANKS: tuple[Topology, ...] = (
    "remote_teammate",
    "background_teammate",
    "human_agent_board",
    "review_team",
    "specialist_handoff",
    "parallel_workers",
    "coordinator_team",
)
_OF_KIND: dict[str, Topology] = {
    "remote": "remote_teammate",
    "background": "background_teammate",
    "human": "human_agent_board",
}
#: Which phase of several teams within the session is told.
_PHASES: tuple[TeamPhase, ...] = ("active", "waiting", "forming", "merging", "done")


class TeamPanel(msgspec.Struct):
    """One row, once there is a second agent. `loads` is what was told of each lead's children, `found` the ways of organising
    work that facts show, `resumes` who takes the session back from a handoff, `turn` the lead's newest turn."""

    row: TeamRow | None = None
    thread: str = ""
    turn: str = ""
    agents: int = 0
    loads: dict[str, TeamChanged] = msgspec.field(default_factory=dict[str, TeamChanged])
    found: set[Topology] = msgspec.field(default_factory=set[Topology])
    resumes: dict[str, str] = msgspec.field(default_factory=dict[str, str])

    def apply(self, record: Record) -> list[Op]:
        """The operations that the fact leads to: none where the row would read the same."""
        if isinstance(record.fact, SessionCreated):
            self.row = TeamRow(
                key=record.stream,
                order=record.sequence,
                sequence=record.sequence,
                name=record.fact.title,
                lead="",
                owner="",
                topology="solo_run",
            )
            return []
        before = self.row
        if before is None:
            return []
        self.row = row = self._changed(before, record)
        if row is before or self.agents < 2 or row == before:
            return []
        self.row = msgspec.structs.replace(row, sequence=record.sequence)
        return upsert(self.row)

    def _changed(self, row: TeamRow, record: Record) -> TeamRow:
        scope = record.scope
        match record.fact:
            case ThreadOpened() as fact:
                self.agents += 1
                if self.agents == 1:
                    self.thread = scope.thread
                    return msgspec.structs.replace(row, lead=scope.agent, owner=scope.agent)
                return self._organised(row, _OF_KIND.get(fact.kind, "coordinator_team"))
            case TurnStarted() if scope.thread == self.thread:
                self.turn = scope.turn
            case TeamChanged() as fact:
                self.loads[scope.thread] = fact
                return self._loaded(row, fact, scope.thread)
            case ReviewRequested():
                return self._organised(row, "review_team")
            case HandoffRequested() as fact if fact.ownership:
                return self._organised(row, "specialist_handoff")
            case HandoffAccepted() as fact if fact.ownership:
                self.resumes[scope.handoff] = fact.resume_target or fact.source
                return msgspec.structs.replace(row, owner=fact.target)
            case HandoffCompleted() as fact:
                resumes = self.resumes.pop(scope.handoff, "")
                return msgspec.structs.replace(row, owner=resumes or row.lead) if fact.returned else row
            case _:
                pass
        return row

    def _organised(self, row: TeamRow, topology: Topology) -> TeamRow:
        self.found.add(topology)
        return msgspec.structs.replace(row, topology=next(one for one in _RANKS if one in self.found))

    def _loaded(self, row: TeamRow, fact: TeamChanged, thread: str) -> TeamRow:
        loads = self.loads.values()
        if fact.active_count > 1:
            row = self._organised(row, "parallel_workers")
        merging = fact.phase == "merging" and thread == self.thread
        return msgspec.structs.replace(
            row,
            team_phase=next(phase for phase in _PHASES if any(load.phase == phase for load in loads)),
            team_parallel_budget=fact.parallel_budget,
            team_active_count=sum(load.active_count for load in loads),
            team_queued_count=sum(load.queued_count for load in loads),
            provider_concurrency_group=fact.group,
            provider_parallel_budget=fact.group_budget,
            queue_reason=fact.queue_reason,
            retryable_overload=fact.queue_reason == "provider_budget",
            synthesis_turn=self.turn if merging else row.synthesis_turn,
        )
