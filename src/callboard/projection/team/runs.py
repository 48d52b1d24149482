"""Run records: one per execution (Multi-agent runtime specification, Run model). A waiting run is running."""

from __future__ import annotations

import msgspec

from callboard.contracts.entities.team import WorkUsage
from callboard.contracts.facts.turn import TurnEndFact, TurnStarted
from callboard.contracts.record import Record
from callboard.contracts.rows.base import Op
from callboard.contracts.rows.run import RunRow

from ..reducer import Panel, on, upsert
from ..run_end import derive_end
from .agent import Member


class OpenRecord(msgspec.Struct, frozen=True, gc=False):
    """A run in progress, and its agent's usage before it."""

    row: RunRow
    before: WorkUsage


class RunsPanel(Panel):
    """Runs in progress, by turn. A record changes when its run starts and when it ends."""

    open: dict[str, OpenRecord] = msgspec.field(default={})

    @on
    def start(self, record: Record, fact: TurnStarted, member: Member | None) -> list[Op]:
        """Start a record. `member` is the thread's agent, after this fact."""
        if member is None:
            return []
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
        self.open[scope.turn] = OpenRecord(row, member.build_usage())
        return upsert(row)

    @on
    def end(self, record: Record, fact: TurnEndFact, member: Member | None) -> list[Op]:
        run = self.open.pop(record.scope.turn, None) if member is not None else None
        if run is None or member is None:
            return []
        status, detail = derive_end(fact)
        at, before, usage = record.header.at, run.before, member.build_usage()
        row = msgspec.structs.replace(
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
        return upsert(row)
