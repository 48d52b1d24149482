"""The team as a whole: who leads, who owns the session, how its work is organised, and how much of it is under way."""

from __future__ import annotations

import msgspec

from callboard.contracts.entities.team import TeamPhase
from callboard.contracts.facts import (
    Fact,
    HandoffAccepted,
    HandoffCompleted,
    SessionCreated,
    TeamChanged,
    ThreadOpened,
    TurnStarted,
)
from callboard.contracts.record import Record
from callboard.contracts.rows import Op, TeamRow
from callboard.contracts.rows.team import Degraded

from ..ops import upsert
from . import topology
from .topology import TopologyState

#: The facts that change the team's row.
TAKES: frozenset[type[Fact]] = topology.TAKES | {SessionCreated, TurnStarted, HandoffAccepted, HandoffCompleted}
#: Which phase of several teams within the session is told.
_PHASES: tuple[TeamPhase, ...] = ("active", "waiting", "forming", "merging", "done")


class TeamPanel(msgspec.Struct):
    """One row, once there is a second agent. `loads` is what was told of each lead's children, `resumes` who takes the session
    back from a handoff, `turn` the lead's newest turn."""

    row: TeamRow | None = None
    thread: str = ""
    turn: str = ""
    agents: int = 0
    loads: dict[str, TeamChanged] = msgspec.field(default_factory=dict[str, TeamChanged])
    organised: TopologyState = msgspec.field(default_factory=TopologyState)
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
        row = self._changed(before, record)
        if type(record.fact) in topology.TAKES:
            self.organised.take(record)
            shown = self.organised.topology() if self.agents > 1 else "solo_run"
            row = row if row.topology == shown else msgspec.structs.replace(row, topology=shown)
        return self._put(row, record)

    def lacks(self, record: Record, degraded: tuple[Degraded, ...]) -> list[Op]:
        """What is degraded of its agents, as far as it says something of the team: that somebody's parents are not known, that
        one elsewhere is not there, that somebody waits for a person's word."""
        if self.row is None or self.row.degraded == degraded:
            return []
        return self._put(msgspec.structs.replace(self.row, degraded=degraded), record)

    def _put(self, row: TeamRow, record: Record) -> list[Op]:
        before, self.row = self.row, row
        if row is before or self.agents < 2 or row == before:
            return []
        self.row = msgspec.structs.replace(row, sequence=record.sequence)
        return upsert(self.row)

    def _changed(self, row: TeamRow, record: Record) -> TeamRow:
        scope = record.scope
        match record.fact:
            case ThreadOpened():
                self.agents += 1
                if self.agents == 1:
                    self.thread = scope.thread
                    return msgspec.structs.replace(row, lead=scope.agent, owner=scope.agent)
            case TurnStarted() if scope.thread == self.thread:
                self.turn = scope.turn
            case TeamChanged() as fact:
                self.loads[scope.thread] = fact
                return self._loaded(row, fact, scope.thread)
            case HandoffAccepted() as fact if fact.ownership:
                self.resumes[scope.handoff] = fact.resume_target or fact.source
                return msgspec.structs.replace(row, owner=fact.target)
            case HandoffCompleted() as fact:
                resumes = self.resumes.pop(scope.handoff, "")
                return msgspec.structs.replace(row, owner=resumes or row.lead) if fact.returned else row
            case _:
                pass
        return row

    def _loaded(self, row: TeamRow, fact: TeamChanged, thread: str) -> TeamRow:
        loads = self.loads.values()
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
