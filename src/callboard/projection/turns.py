"""Turns: one row each, with input, progress, end and usage."""

from __future__ import annotations

from typing import Any

import msgspec

from callboard.contracts.facts.action import ActionExpired, ActionRequired, ActionResolved, ActionWithdrawn
from callboard.contracts.facts.message import OutputFinal
from callboard.contracts.facts.model import CostRecorded, ModelRequested
from callboard.contracts.facts.queue import QueueEdited, QueueRemoved
from callboard.contracts.facts.tool import FileChange, ToolCancelled, ToolCompleted, ToolFailed, ToolRequested
from callboard.contracts.facts.turn import TurnCompleted, TurnFailed, TurnInterrupted, TurnStarted, TurnSubmitted
from callboard.contracts.record import Record, step_id
from callboard.contracts.rows.base import Op
from callboard.contracts.rows.conversation import TurnRow

from .reducer import upsert


class OpenTurn(msgspec.Struct):
    """A turn that has not ended: its row, its pending actions, and the files that its tools changed."""

    row: TurnRow
    pending: set[str] = msgspec.field(default_factory=set[str])
    files: set[str] = msgspec.field(default_factory=set[str])


class TurnsPanel(msgspec.Struct):
    """The turns that have not ended, by id."""

    open: dict[str, OpenTurn] = msgspec.field(default_factory=dict[str, OpenTurn])

    def apply(self, record: Record) -> list[Op]:
        """Return the row operations of the fact."""
        if isinstance(record.fact, TurnSubmitted):
            turn = self.open[record.scope.turn] = OpenTurn(row=_submitted(record, record.fact))
            return upsert(turn.row)
        turn = self.open.get(record.scope.turn)
        if turn is None:
            return []
        changes = _changes(turn, record)
        if not changes:
            return []
        turn.row = msgspec.structs.replace(turn.row, sequence=record.sequence, **changes)
        if "ended_at" in changes:
            del self.open[record.scope.turn]
        return upsert(turn.row)


def _submitted(record: Record, fact: TurnSubmitted) -> TurnRow:
    return TurnRow(
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


def _changes(turn: OpenTurn, record: Record) -> dict[str, Any]:
    """Return the fields that the fact changes."""
    row, at = turn.row, record.header.at
    match record.fact:
        case TurnStarted() as fact:
            # The effective mode: a definition or a parent can restrict the submitted mode.
            return {
                "mode": fact.mode,
                "permission_mode": fact.permission_mode,
                "order": record.sequence,
                "agent_id": record.scope.agent or row.agent_id,
                "run_id": record.scope.run,
                "state": "running",
                "started_at": at,
            }
        case ModelRequested() as fact:
            return {"iterations": max(row.iterations, fact.iteration)}
        case ToolRequested():
            return {"tool_calls": row.tool_calls + 1}
        case ToolCompleted(changes=files) | ToolFailed(changes=files) | ToolCancelled(changes=files):
            return _files(turn, files)
        case CostRecorded() as fact:
            return {
                "input_tokens": total(row.input_tokens, fact.input_tokens),
                "output_tokens": total(row.output_tokens, fact.output_tokens),
            }
        case ActionRequired():
            turn.pending.add(record.scope.action)
            return {"state": "waiting", "waiting_since": at} if row.state != "waiting" else {}
        case ActionResolved() | ActionExpired() | ActionWithdrawn():
            turn.pending.discard(record.scope.action)
            return {"state": "running", **_waited(row, at)} if row.state == "waiting" and not turn.pending else {}
        case QueueEdited() as fact:
            return {"input": fact.input, "given": fact.given, "missing": fact.missing}
        case OutputFinal() as fact:
            return {"final_parts": tuple(step_id(record.scope.run, step) for step in fact.parts)}
        case _:
            return _end(turn, record)


def _waited(row: TurnRow, at: int) -> dict[str, Any]:
    """Return the end of a wait for a decision; nothing for a turn that does not wait."""
    if not row.waiting_since:
        return {}
    return {"waited_us": row.waited_us + max(at - row.waiting_since, 0), "waiting_since": 0}


def _end(turn: OpenTurn, record: Record) -> dict[str, Any]:
    at = record.header.at
    match record.fact:
        case TurnCompleted() as fact:
            return {
                "state": "completed",
                "ended_at": at,
                "iterations": fact.iterations or turn.row.iterations,
                **_waited(turn.row, at),
            }
        case TurnFailed() as fact:
            return {
                "state": "failed",
                "ended_at": at,
                **_waited(turn.row, at),
                "iterations": fact.iterations or turn.row.iterations,
                "code": fact.code,
                "message": fact.message,
                "hint": fact.hint,
            }
        case TurnInterrupted() as fact:
            return {
                "state": "interrupted",
                "ended_at": at,
                **_waited(turn.row, at),
                "iterations": fact.iterations or turn.row.iterations,
                "code": fact.cause,
                "message": fact.reason,
            }
        case QueueRemoved() as fact:
            return {"state": "removed", "ended_at": at, "message": fact.reason}
        case _:
            return {}


def _files(turn: OpenTurn, changes: tuple[FileChange, ...]) -> dict[str, Any]:
    before = len(turn.files)
    turn.files.update(change.path for change in changes)
    return {"files_changed": len(turn.files)} if len(turn.files) != before else {}


def total(before: int | None, more: int | None) -> int | None:
    """Return the sum of reported tokens; None without a report."""
    return before if more is None else (before or 0) + more
