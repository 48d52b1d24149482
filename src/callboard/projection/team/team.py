"""The team: its lead, the owner of the session, its topology and its load."""

from __future__ import annotations

from typing import Any

import msgspec

from callboard.contracts.entities.team import TeamPhase
from callboard.contracts.facts.exchange.handoff import HandoffAccepted, HandoffCompleted
from callboard.contracts.facts.session import SessionCreated, ThreadOpened
from callboard.contracts.facts.subagent import TeamChanged
from callboard.contracts.facts.turn import TurnStarted
from callboard.contracts.record import Record
from callboard.contracts.rows.base import Op
from callboard.contracts.rows.team import Degraded, TeamRow

from ..reducer import Reducer, on, upsert
from .topology import TopologyState

#: The team's phase is the first of these that a lead reports.
_PHASES: tuple[TeamPhase, ...] = ("active", "waiting", "forming", "merging", "done")


class TeamPanel(Reducer):
    """One row, once there is a second agent.

    Attributes:
        turn: The lead's newest turn.
        loads: The newest load of each lead's children, by the lead's thread.
        resumes: The agent that regains the session after each handoff of ownership.
    """

    USES = (TopologyState.FACTS,)
    row: TeamRow | None = None
    thread: str = ""
    turn: str = ""
    agents: int = 0
    loads: dict[str, TeamChanged] = msgspec.field(default={})
    organised: TopologyState = msgspec.field(default_factory=TopologyState)
    resumes: dict[str, str] = msgspec.field(default={})

    def apply(self, record: Record) -> list[Op]:
        """Return the row operations of the fact; none if the row stays the same."""
        before = self.row
        changes: dict[str, Any] | None = self.handle(record)
        if before is None:
            return []
        row = msgspec.structs.replace(before, **changes) if changes else before
        if type(record.fact) in TopologyState.FACTS:
            self.organised.handle(record)
            topology = self.organised.find_topology() if self.agents > 1 else "solo_run"
            row = row if row.topology == topology else msgspec.structs.replace(row, topology=topology)
        return self._put(row, record)

    def apply_degraded(self, record: Record, degraded: tuple[Degraded, ...]) -> list[Op]:
        """Show what degrades the team's agents, such as an unknown parent or an unreachable remote agent."""
        if self.row is None or self.row.degraded == degraded:
            return []
        return self._put(msgspec.structs.replace(self.row, degraded=degraded), record)

    @on
    def create(self, record: Record, fact: SessionCreated) -> None:
        self.row = TeamRow(
            key=record.stream,
            order=record.sequence,
            sequence=record.sequence,
            name=fact.title,
            lead="",
            owner="",
            topology="solo_run",
        )

    @on
    def join(self, record: Record, fact: ThreadOpened) -> dict[str, Any]:
        self.agents += 1
        if self.agents > 1:
            return {}
        self.thread = record.scope.thread
        return {"lead": record.scope.agent, "owner": record.scope.agent}

    @on
    def start_turn(self, record: Record, fact: TurnStarted) -> None:
        if record.scope.thread == self.thread:
            self.turn = record.scope.turn

    @on
    def accept_handoff(self, record: Record, fact: HandoffAccepted) -> dict[str, Any]:
        if not fact.ownership:
            return {}
        self.resumes[record.scope.handoff] = fact.resume_target or fact.source
        return {"owner": fact.target}

    @on
    def complete_handoff(self, record: Record, fact: HandoffCompleted) -> dict[str, Any]:
        resumes = self.resumes.pop(record.scope.handoff, "")
        return {"owner": resumes or (self.row.lead if self.row is not None else "")} if fact.returned else {}

    @on
    def record_load(self, record: Record, fact: TeamChanged) -> dict[str, Any]:
        self.loads[record.scope.thread] = fact
        loads = self.loads.values()
        merging = fact.phase == "merging" and record.scope.thread == self.thread
        return {
            "team_phase": next(phase for phase in _PHASES if any(load.phase == phase for load in loads)),
            "team_parallel_budget": fact.parallel_budget,
            "team_active_count": sum(load.active_count for load in loads),
            "team_queued_count": sum(load.queued_count for load in loads),
            "provider_concurrency_group": fact.group,
            "provider_parallel_budget": fact.group_budget,
            "queue_reason": fact.queue_reason,
            "retryable_overload": fact.queue_reason == "provider_budget",
            **({"synthesis_turn": self.turn} if merging else {}),
        }

    def _put(self, row: TeamRow, record: Record) -> list[Op]:
        before, self.row = self.row, row
        if row is before or self.agents < 2 or row == before:
            return []
        self.row = msgspec.structs.replace(row, sequence=record.sequence)
        return upsert(self.row)
