"""The board: one row a task, with its attempts."""

from __future__ import annotations

from typing import Any

import msgspec

from callboard.contracts.facts import (
    Fact,
    ReviewRequested,
    SubagentContinued,
    SubagentStarted,
    TaskCancelled,
    TaskCompleted,
    TaskCreated,
    TaskFailed,
    TaskUpdated,
    TurnCompleted,
    TurnFailed,
    TurnInterrupted,
    TurnStarted,
)
from callboard.contracts.record import Record
from callboard.contracts.rows import Op, TaskRow
from callboard.contracts.rows.team import AttemptRow, Comment

from ..ops import upsert
from .runs import ended

#: How many comments and attempts of a task are kept in its row.
COMMENTS = 50
ATTEMPTS = 20
#: The facts that change the board.
TAKES: frozenset[type[Fact]] = frozenset(
    {
        TaskCreated,
        TaskUpdated,
        TaskCompleted,
        TaskFailed,
        TaskCancelled,
        SubagentStarted,
        SubagentContinued,
        ReviewRequested,
        TurnStarted,
        TurnCompleted,
        TurnFailed,
        TurnInterrupted,
    }
)


class TasksPanel(msgspec.Struct):
    """`open` are the tasks without an end; `work` is the task that each thread works on, `turns` that of each open turn."""

    open: dict[str, TaskRow] = msgspec.field(default_factory=dict[str, TaskRow])
    work: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    turns: dict[str, str] = msgspec.field(default_factory=dict[str, str])

    def apply(self, record: Record) -> list[Op]:
        """The operations that the fact leads to."""
        scope = record.scope
        match record.fact:
            case TaskCreated() as fact:
                return self._create(record, fact)
            case TurnStarted():
                return self._begin(record)
            case TurnCompleted() | TurnFailed() | TurnInterrupted():
                return self._attempted(record)
            case SubagentStarted() | SubagentContinued():
                self.work[scope.thread] = scope.task
                return self._change(record, status="running")
            case ReviewRequested():
                return self._change(record, status="reviewing")
            case TaskUpdated() as fact:
                return self._update(record, fact)
            case _:
                return self._end(record)

    def _create(self, record: Record, fact: TaskCreated) -> list[Op]:
        scope = record.scope
        row = self.open[scope.task] = TaskRow(
            key=scope.task,
            order=record.sequence,
            sequence=record.sequence,
            title=fact.title,
            status="claimed" if fact.assignee else "open",
            objective=fact.objective,
            assignee=fact.assignee,
            parent_task=fact.parent_task,
            depends_on=fact.depends_on,
            priority=fact.priority,
            acceptance=fact.acceptance,
            created=record.header.at,
        )
        if scope.parent_thread:
            self.work[scope.thread] = scope.task
        elif scope.run:
            # The task of a turn that is under way: the run that made it is its attempt.
            self.turns[scope.turn] = scope.task
            row = self.open[scope.task] = msgspec.structs.replace(
                row, status="running", attempts=(AttemptRow(run_id=scope.run, status="running"),)
            )
        return upsert(row)

    def _begin(self, record: Record) -> list[Op]:
        task = self.work.get(record.scope.thread, "")
        row = self.open.get(task)
        if row is None:
            return []
        self.turns[record.scope.turn] = task
        attempts = (*row.attempts, AttemptRow(run_id=record.scope.run, status="running"))[-ATTEMPTS:]
        return self._put(row, record, status="running", attempts=attempts)

    def _attempted(self, record: Record) -> list[Op]:
        row = self.open.get(self.turns.pop(record.scope.turn, ""))
        if row is None:
            return []
        status, detail = ended(record)
        attempts = tuple(
            msgspec.structs.replace(one, status=status, detail=detail) if one.run_id == record.scope.run else one
            for one in row.attempts
        )
        return self._put(row, record, attempts=attempts)

    def _update(self, record: Record, fact: TaskUpdated) -> list[Op]:
        row = self.open.get(record.scope.task)
        if row is None:
            return []
        named = ("status", "title", "assignee", "priority", "blocker", "depends_on", "progress")
        changes: dict[str, Any] = {name: value for name in named if (value := getattr(fact, name)) is not None}
        if fact.status is not None and fact.status != "blocked" and fact.blocker is None:
            changes["blocker"] = ""
        if fact.comment:
            actor = record.header.actor
            by = record.scope.agent if actor is None or actor.kind == "agent" else ""
            comment = Comment(at=record.header.at, by=by, text=fact.comment)
            changes["comments"] = (*row.comments, comment)[-COMMENTS:]
        return self._put(row, record, **changes)

    def _end(self, record: Record) -> list[Op]:
        at = record.header.at
        match record.fact:
            case TaskCompleted() as fact:
                ops = self._change(record, status="done", summary=fact.summary, refs=fact.refs, ended=at, blocker="")
            case TaskFailed() as fact:
                ops = self._change(record, status="blocked", blocker=fact.message or fact.code, ended=at)
            case TaskCancelled() as fact:
                ops = self._change(record, status="cancelled", summary=fact.reason, ended=at)
            case _:
                return []
        self.open.pop(record.scope.task, None)
        self.turns = {turn: task for turn, task in self.turns.items() if task != record.scope.task}
        return ops

    def _change(self, record: Record, **changes: Any) -> list[Op]:
        row = self.open.get(record.scope.task)
        return [] if row is None else self._put(row, record, **changes)

    def _put(self, row: TaskRow, record: Record, **changes: Any) -> list[Op]:
        row = self.open[row.key] = msgspec.structs.replace(row, sequence=record.sequence, **changes)
        return upsert(row)
