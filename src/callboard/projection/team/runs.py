"""Runs: one record an execution, which ends in a true state also after a crash (Multi-agent runtime specification, Run
model). A waiting run is running, one that a person or its parent stopped is cancelled, one that nobody meant to end failed."""

from __future__ import annotations

import msgspec

from callboard.contracts.facts import (
    CostRecorded,
    Fact,
    ModelRequested,
    SubagentContinued,
    ThreadOpened,
    ToolStarted,
    TurnCompleted,
    TurnFailed,
    TurnInterrupted,
    TurnStarted,
)
from callboard.contracts.facts.thread import AgentKind
from callboard.contracts.record import Record
from callboard.contracts.rows import Op, RunRow
from callboard.contracts.rows.team import RunStatus
from callboard.contracts.team import WorkUsage

from ..ops import upsert

#: The facts that change a run's record.
TAKES: frozenset[type[Fact]] = frozenset(
    {
        ThreadOpened,
        SubagentContinued,
        TurnStarted,
        ModelRequested,
        ToolStarted,
        CostRecorded,
        TurnCompleted,
        TurnFailed,
        TurnInterrupted,
    }
)
#: Interrupts that somebody meant.
_MEANT = frozenset({"person", "replaced", "cancelled", "closed"})


class Owner(msgspec.Struct, frozen=True):
    """Whose thread it is. `parent_run` and `task` are those of a child."""

    agent: str
    kind: AgentKind
    parent_run: str = ""
    task: str = ""


class OpenRecord(msgspec.Struct):
    """A run under way, and what it took so far."""

    row: RunRow
    input_tokens: int = 0
    output_tokens: int = 0
    model_calls: int = 0
    tool_calls: int = 0


class RunsPanel(msgspec.Struct):
    """`open` are the runs without an end, by turn; `owners` the agents of the threads. A record is told when its run begins
    and when it ends."""

    open: dict[str, OpenRecord] = msgspec.field(default_factory=dict[str, OpenRecord])
    owners: dict[str, Owner] = msgspec.field(default_factory=dict[str, Owner])

    def apply(self, record: Record) -> list[Op]:
        """The operations that the fact leads to."""
        scope = record.scope
        match record.fact:
            case ThreadOpened() as fact:
                kind = "subagent" if scope.parent_thread else fact.kind
                self.owners[scope.thread] = Owner(scope.agent, kind, scope.parent_run, scope.task)
                return []
            case SubagentContinued():
                self.owners[scope.thread] = Owner(scope.agent, "subagent", scope.parent_run, scope.task)
                return []
            case TurnStarted():
                return self._begin(record)
            case _:
                run = self.open.get(scope.turn)
                return [] if run is None else self._go_on(run, record)

    def _begin(self, record: Record) -> list[Op]:
        scope = record.scope
        owner = self.owners.get(scope.thread, Owner(scope.agent, "main"))
        row = RunRow(
            key=scope.run,
            order=record.sequence,
            sequence=record.sequence,
            agent_id=owner.agent,
            agent_kind=owner.kind,
            thread_id=scope.thread,
            turn_id=scope.turn,
            status="running",
            parent_run_id=owner.parent_run,
            task_id=owner.task,
            started=record.header.at,
            epoch=record.header.epoch,
        )
        self.open[scope.turn] = OpenRecord(row)
        return upsert(row)

    def _go_on(self, run: OpenRecord, record: Record) -> list[Op]:
        match record.fact:
            case ModelRequested():
                run.model_calls += 1
            case ToolStarted():
                run.tool_calls += 1
            case CostRecorded() as fact:
                run.input_tokens += fact.input_tokens or 0
                run.output_tokens += fact.output_tokens or 0
            case _:
                del self.open[record.scope.turn]
                return upsert(_over(run, record))
        return []


def _over(run: OpenRecord, record: Record) -> RunRow:
    status, detail = ended(record)
    at = record.header.at
    return msgspec.structs.replace(
        run.row,
        sequence=record.sequence,
        status=status,
        detail=detail,
        ended=at,
        usage=WorkUsage(
            input_tokens=run.input_tokens,
            output_tokens=run.output_tokens,
            duration_ms=max(at - run.row.started, 0) // 1000,
            model_calls=run.model_calls,
            tool_calls=run.tool_calls,
        ),
    )


def ended(record: Record) -> tuple[RunStatus, str]:
    """The status in which a run ended, and its code or cause."""
    match record.fact:
        case TurnCompleted():
            return "completed", ""
        case TurnFailed() as fact:
            return "failed", fact.code
        case TurnInterrupted() as fact:
            return ("cancelled" if fact.cause in _MEANT else "failed"), fact.cause
        case _:
            raise LookupError(f"{record.header.type} ends no run")
