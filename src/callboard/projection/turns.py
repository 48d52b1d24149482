"""Turns: one row each, with input, progress, end and usage."""

from __future__ import annotations

from typing import Any

import msgspec

from callboard.contracts.facts.action import ActionEndFact, ActionRequired
from callboard.contracts.facts.message import OutputFinal
from callboard.contracts.facts.model import CostRecorded, ModelRequested
from callboard.contracts.facts.queue import QueueEdited, QueueRemoved
from callboard.contracts.facts.tool import ToolCancelled, ToolCompleted, ToolFailed, ToolRequested
from callboard.contracts.facts.turn import TurnCompleted, TurnFailed, TurnInterrupted, TurnStarted, TurnSubmitted
from callboard.contracts.record import Record, format_step_id
from callboard.contracts.rows.base import Op
from callboard.contracts.rows.turn import TurnRow

from .reducer import Reducer, on, upsert

Changes = dict[str, Any]


class OpenTurn(Reducer):
    """A turn that has not ended: its row, its pending actions, and the files that its tools changed.

    The handlers return the fields of the row that the fact changes.
    """

    row: TurnRow
    pending: set[str] = msgspec.field(default=set())
    files: set[str] = msgspec.field(default=set())

    @on
    def start(self, record: Record, fact: TurnStarted) -> Changes:
        # The effective mode: a definition or a parent can restrict the submitted mode.
        return {
            "mode": fact.mode,
            "permission_mode": fact.permission_mode,
            "order": record.sequence,
            "agent_id": record.scope.agent or self.row.agent_id,
            "run_id": record.scope.run,
            "state": "running",
            "started_at": record.header.at,
        }

    @on
    def request_model(self, record: Record, fact: ModelRequested) -> Changes:
        return {"iterations": max(self.row.iterations, fact.iteration)}

    @on
    def request_tool(self, record: Record, fact: ToolRequested) -> Changes:
        return {"tool_calls": self.row.tool_calls + 1}

    @on
    def add_files(self, record: Record, fact: ToolCompleted | ToolFailed | ToolCancelled) -> Changes:
        before = len(self.files)
        self.files.update(change.path for change in fact.changes)
        return {"files_changed": len(self.files)} if len(self.files) != before else {}

    @on
    def add_usage(self, record: Record, fact: CostRecorded) -> Changes:
        return {
            "input_tokens": add_tokens(self.row.input_tokens, fact.input_tokens),
            "output_tokens": add_tokens(self.row.output_tokens, fact.output_tokens),
        }

    @on
    def require_action(self, record: Record, fact: ActionRequired) -> Changes:
        self.pending.add(record.scope.action)
        return {"state": "waiting", "waiting_since": record.header.at} if self.row.state != "waiting" else {}

    @on
    def end_action(self, record: Record, fact: ActionEndFact) -> Changes:
        self.pending.discard(record.scope.action)
        if self.row.state != "waiting" or self.pending:
            return {}
        return {"state": "running", **self._end_wait(record.header.at)}

    @on
    def edit(self, record: Record, fact: QueueEdited) -> Changes:
        return {"input": fact.input, "given": fact.given, "missing": fact.missing}

    @on
    def finish(self, record: Record, fact: OutputFinal) -> Changes:
        return {"final_parts": tuple(format_step_id(record.scope.run, step) for step in fact.parts)}

    @on
    def complete(self, record: Record, fact: TurnCompleted) -> Changes:
        return {"state": "completed", **self._end(record, fact.iterations)}

    @on
    def fail(self, record: Record, fact: TurnFailed) -> Changes:
        error = {"code": fact.code, "message": fact.message, "hint": fact.hint}
        return {"state": "failed", **self._end(record, fact.iterations), **error}

    @on
    def interrupt(self, record: Record, fact: TurnInterrupted) -> Changes:
        end = self._end(record, fact.iterations)
        return {"state": "interrupted", **end, "code": fact.cause, "message": fact.reason}

    @on
    def remove(self, record: Record, fact: QueueRemoved) -> Changes:
        return {"state": "removed", "ended_at": record.header.at, "message": fact.reason}

    def _end(self, record: Record, iterations: int) -> Changes:
        at = record.header.at
        return {"ended_at": at, "iterations": iterations or self.row.iterations, **self._end_wait(at)}

    def _end_wait(self, at: int) -> Changes:
        """Return the end of a wait for a decision; nothing for a turn that does not wait."""
        if not self.row.waiting_since:
            return {}
        return {"waited_us": self.row.waited_us + max(at - self.row.waiting_since, 0), "waiting_since": 0}


class TurnsPanel(Reducer):
    """The turns that have not ended, by id."""

    USES = (OpenTurn.FACTS,)
    open: dict[str, OpenTurn] = msgspec.field(default={})

    def apply(self, record: Record) -> list[Op]:
        """Return the row operations of the fact."""
        if type(record.fact) in self.HANDLERS:
            return self.handle(record)
        turn = self.open.get(record.scope.turn)
        if turn is None:
            return []
        changes: Changes | None = turn.handle(record)
        if not changes:
            return []
        turn.row = msgspec.structs.replace(turn.row, sequence=record.sequence, **changes)
        if "ended_at" in changes:
            del self.open[record.scope.turn]
        return upsert(turn.row)

    @on
    def submit(self, record: Record, fact: TurnSubmitted) -> list[Op]:
        row = TurnRow(
            key=record.scope.turn,
            order=record.sequence,
            sequence=record.sequence,
            turn_id=record.scope.turn,
            thread_id=record.scope.thread,
            agent_id=record.scope.agent,
            state="queued",
            input=fact.input,
            mode=fact.mode,
            permission_mode=fact.permission_mode,
            submitted_at=record.header.at,
            source=fact.source,
            given=fact.given,
            missing=fact.missing,
        )
        self.open[record.scope.turn] = OpenTurn(row=row)
        return upsert(row)


def add_tokens(before: int | None, more: int | None) -> int | None:
    """Return the sum of reported tokens; None without a report."""
    return before if more is None else (before or 0) + more
