"""Runs: one record an execution, which ends in a true state also after a crash (Multi-agent runtime specification, Run
model). A waiting run is running."""

from __future__ import annotations

import msgspec

from callboard.contracts.entities.team import WorkUsage
from callboard.contracts.facts import Fact, TurnCompleted, TurnFailed, TurnInterrupted, TurnStarted
from callboard.contracts.record import Record
from callboard.contracts.rows import Op, RunRow

from ..ops import upsert
from ..run_end import ended
from .agent import Member

#: The facts that change a run's record.
TAKES: frozenset[type[Fact]] = frozenset({TurnStarted, TurnCompleted, TurnFailed, TurnInterrupted})


class OpenRecord(msgspec.Struct, frozen=True):
    """A run under way, and what its agent's work had taken before it."""

    row: RunRow
    before: WorkUsage


class RunsPanel(msgspec.Struct):
    """`open` are the runs without an end, by turn. A record is told when its run begins and when it ends."""

    open: dict[str, OpenRecord] = msgspec.field(default_factory=dict[str, OpenRecord])

    def apply(self, record: Record, member: Member | None) -> list[Op]:
        """The operations that the fact leads to. `member` is the agent whose thread it is, with the fact taken in."""
        if member is None:
            return []
        if isinstance(record.fact, TurnStarted):
            return self._begin(record, record.fact, member)
        run = self.open.pop(record.scope.turn, None)
        return [] if run is None else upsert(_over(run, record, member.usage()))

    def _begin(self, record: Record, fact: TurnStarted, member: Member) -> list[Op]:
        scope, card = record.scope, member.card
        row = RunRow(
            key=scope.run,
            order=record.sequence,
            sequence=record.sequence,
            agent_id=card.agent_id,
            agent_kind=card.agent_kind,
            thread_id=scope.thread,
            turn_id=scope.turn,
            status="running",
            parent_run_id=card.parent_run_id,
            task_id=card.task_id,
            started=record.header.at,
            prompts=fact.prompts,
            epoch=record.header.epoch,
        )
        self.open[scope.turn] = OpenRecord(row, member.usage())
        return upsert(row)


def _over(run: OpenRecord, record: Record, usage: WorkUsage) -> RunRow:
    status, detail = ended(record)
    at, before = record.header.at, run.before
    return msgspec.structs.replace(
        run.row,
        sequence=record.sequence,
        status=status,
        detail=detail,
        ended=at,
        usage=WorkUsage(
            input_tokens=usage.input_tokens - before.input_tokens,
            output_tokens=usage.output_tokens - before.output_tokens,
            duration_ms=max(at - run.row.started, 0) // 1000,
            model_calls=usage.model_calls - before.model_calls,
            tool_calls=usage.tool_calls - before.tool_calls,
        ),
    )
