"""The board: one row per task, with its attempts."""

from __future__ import annotations

from typing import Any

import msgspec

from callboard.contracts.entities.team import TaskStatus
from callboard.contracts.facts.agent import AgentSlept, AgentWoke
from callboard.contracts.facts.exchange.review import ReviewRequested
from callboard.contracts.facts.job import JobCreated, JobItemRetried
from callboard.contracts.facts.queue import QueueRemoved
from callboard.contracts.facts.session import ThreadPaused, ThreadResumed
from callboard.contracts.facts.subagent import SubagentContinued, SubagentStarted, WorkerNotification
from callboard.contracts.facts.task import (
    TaskCancelled,
    TaskCancelRequested,
    TaskCompleted,
    TaskCreated,
    TaskFailed,
    TaskPaused,
    TaskResumed,
    TaskStarted,
    TaskUpdated,
)
from callboard.contracts.facts.turn import TurnEndFact, TurnStarted, TurnSubmitted
from callboard.contracts.record import Record
from callboard.contracts.rows.base import Op
from callboard.contracts.rows.task import Comment, JobItems, TaskRow

from ..reducer import Panel, on, upsert
from ..run_end import derive_end
from . import attempts
from .job_counts import count_item

#: Maximum number of comments in a task's row.
MAX_COMMENTS = 50


class TasksPanel(Panel):
    """The board.

    Attributes:
        open: The tasks that can still change. A failed task can be tried again.
        work: The task of each thread.
        turns: The task of each turn that is an attempt and has not ended.
        jobs: The task of each job.
        agents: The thread that works on each task of an agent that is not a child.
        halted: The tasks that their agent will continue after its pause.
        late: The tasks with a running run whose attempt was reported as failed.
    """

    open: dict[str, TaskRow] = msgspec.field(default={})
    work: dict[str, str] = msgspec.field(default={})
    turns: dict[str, str] = msgspec.field(default={})
    jobs: dict[str, str] = msgspec.field(default={})
    agents: dict[str, str] = msgspec.field(default={})
    halted: set[str] = msgspec.field(default=set())
    late: set[str] = msgspec.field(default=set())

    @on
    def create(self, record: Record, fact: TaskCreated) -> list[Op]:
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
            entity=fact.entity,
            job=scope.job,
            created=record.header.at,
        )
        if scope.parent_thread:
            self.work[scope.thread] = scope.task
        elif scope.run:
            # An agent created the task in its own turn: the run is an attempt.
            self.turns[scope.turn] = scope.task
            self.agents[scope.task] = scope.thread
            row = self.open[scope.task] = msgspec.structs.replace(
                row, status="running", attempts=attempts.start_run((), record)
            )
        return [*upsert(row), *self._count_item(None, row)]

    @on
    def create_job(self, record: Record, fact: JobCreated) -> list[Op]:
        self.jobs[record.scope.job] = record.scope.task
        return self._change(record, items=JobItems())

    @on
    def retry_item(self, record: Record, fact: JobItemRetried) -> list[Op]:
        return self._change(record, status="open", blocker="", ended=0)

    @on
    def start(self, record: Record, fact: TaskStarted) -> list[Op]:
        row = self.open.get(record.scope.task)
        if row is None:
            return []
        if record.scope.turn:
            self.turns[record.scope.turn] = row.key
            self.agents[row.key] = record.scope.thread
        self.halted.discard(row.key)
        self.late.discard(row.key)
        return self._put(
            row,
            record,
            status="running",
            assignee=fact.assignee,
            blocker="",
            ended=0,
            attempts=attempts.start(row.attempts, record, fact.assignee),
        )

    @on
    def add_turn(self, record: Record, fact: TurnSubmitted | AgentWoke) -> list[Op]:
        if record.scope.task:
            self.turns[record.scope.turn] = record.scope.task
        return []

    @on
    def remove_turn(self, record: Record, fact: QueueRemoved) -> list[Op]:
        self.turns.pop(record.scope.turn, None)
        return []

    @on
    def start_run(self, record: Record, fact: TurnStarted) -> list[Op]:
        turn = record.scope.turn
        task = self.turns.get(turn) or self.work.get(record.scope.thread, "")
        row = self.open.get(task)
        if row is None:
            return []
        self.turns[turn] = task
        if row.ended:
            self.late.add(task)
        status: TaskStatus = "blocked" if row.paused else "running"
        tried = attempts.start_run(row.attempts, record, again=bool(row.ended))
        return self._put(row, record, status=status, blocker="" if row.ended else row.blocker, attempts=tried, ended=0)

    @on
    def end_run(self, record: Record, fact: TurnEndFact) -> list[Op]:
        row = self.open.get(self.turns.pop(record.scope.turn, ""))
        if row is None:
            return []
        status, detail = derive_end(fact)
        at = record.header.at
        tried = attempts.end(row.attempts, status, detail, at, run=record.scope.run)
        if row.key in self.late and row.status == "running":
            self.late.discard(row.key)
            return self._put(row, record, attempts=tried, status="blocked", blocker=detail or status, ended=at)
        return self._put(row, record, attempts=tried)

    @on
    def update(self, record: Record, fact: TaskUpdated) -> list[Op]:
        row = self.open.get(record.scope.task)
        if row is None:
            return []
        changes: dict[str, Any] = {name: value for name in _FIELDS if (value := getattr(fact, name)) is not None}
        if fact.status is not None and fact.status != "blocked" and fact.blocker is None:
            changes["blocker"] = ""
        if fact.comment:
            actor = record.header.actor
            by = record.scope.agent if actor is None or actor.kind == "agent" else ""
            comment = Comment(at=record.header.at, by=by, text=fact.comment)
            changes["comments"] = (*row.comments, comment)[-MAX_COMMENTS:]
        return self._put(row, record, **changes)

    @on
    def start_child(self, record: Record, fact: SubagentStarted | SubagentContinued) -> list[Op]:
        self.work[record.scope.thread] = record.scope.task
        return self._change(record, status="running")

    @on
    def request_review(self, record: Record, fact: ReviewRequested) -> list[Op]:
        return self._change(record, status="reviewing")

    @on
    def notify(self, record: Record, fact: WorkerNotification) -> list[Op]:
        return self._change(record, status="reviewing") if fact.status == "ready_for_review" else []

    @on
    def sleep(self, record: Record, fact: AgentSlept) -> list[Op]:
        row = self.open.get(record.scope.task)
        if row is None or row.status != "running":
            return []
        return self._put(row, record, status=_derive_resting_status(row))

    @on
    def pause(self, record: Record, fact: TaskPaused) -> list[Op]:
        row = self.open.get(record.scope.task)
        # A failed task keeps its error until its next attempt.
        blocked = {} if row is not None and row.ended else {"status": "blocked", "blocker": fact.reason}
        return self._change(record, paused=True, **blocked)

    @on
    def resume(self, record: Record, fact: TaskResumed) -> list[Op]:
        row = self.open.get(record.scope.task)
        resting = {} if row is None or row.ended else {"status": _derive_resting_status(row), "blocker": ""}
        return self._change(record, paused=False, **resting)

    @on
    def request_cancel(self, record: Record, fact: TaskCancelRequested) -> list[Op]:
        return self._change(record, cancelling=True)

    @on
    def pause_agent(self, record: Record, fact: ThreadPaused) -> list[Op]:
        """Block the tasks that the agent will continue after its pause."""
        ops: list[Op] = []
        for row in self._list_agent_rows(record.scope.thread):
            if row.status == "running" and row.key not in self.turns.values():
                self.halted.add(row.key)
                ops += self._put(row, record, status="blocked", blocker=fact.reason)
        return ops

    @on
    def resume_agent(self, record: Record, fact: ThreadResumed) -> list[Op]:
        ops: list[Op] = []
        for row in self._list_agent_rows(record.scope.thread):
            if row.key not in self.halted:
                continue
            self.halted.discard(row.key)
            if row.status == "blocked" and not row.paused and not row.ended:
                # A sleeping agent continues at its time, with another attempt.
                sleeps = row.entity == "automation_job" and not row.job
                ops += self._put(row, record, status=_derive_resting_status(row) if sleeps else "running", blocker="")
        return ops

    def _list_agent_rows(self, thread: str) -> list[TaskRow]:
        return [self.open[task] for task, agent in self.agents.items() if agent == thread]

    @on
    def fail(self, record: Record, fact: TaskFailed) -> list[Op]:
        row, at = self.open.get(record.scope.task), record.header.at
        if row is None:
            return []
        tried = attempts.end(row.attempts, "failed", fact.code, at)
        return self._put(row, record, status="blocked", blocker=fact.message or fact.code, attempts=tried, ended=at)

    @on
    def complete(self, record: Record, fact: TaskCompleted) -> list[Op]:
        row, at = self.open.get(record.scope.task), record.header.at
        if row is None:
            return []
        ops = self._put(
            row,
            record,
            status="done",
            summary=fact.summary,
            plain_text=fact.plain_text,
            refs=fact.refs or row.refs,
            blocker="",
            paused=False,
            attempts=attempts.end(row.attempts, "completed", "", at),
            ended=at,
        )
        self._forget(row)
        return ops

    @on
    def cancel(self, record: Record, fact: TaskCancelled) -> list[Op]:
        row, at = self.open.get(record.scope.task), record.header.at
        if row is None:
            return []
        ops = self._put(
            row,
            record,
            status="cancelled",
            summary=fact.reason,
            paused=False,
            cancelling=False,
            attempts=attempts.end(row.attempts, "cancelled", "", at),
            ended=at,
        )
        self._forget(row)
        return ops

    def _forget(self, row: TaskRow) -> None:
        del self.open[row.key]
        self.agents.pop(row.key, None)
        self.halted.discard(row.key)
        self.late.discard(row.key)
        if self.jobs.get(row.job) == row.key:
            del self.jobs[row.job]
        self.turns = {turn: task for turn, task in self.turns.items() if task != row.key}

    def _change(self, record: Record, **changes: Any) -> list[Op]:
        row = self.open.get(record.scope.task)
        return [] if row is None else self._put(row, record, **changes)

    def _put(self, row: TaskRow, record: Record, **changes: Any) -> list[Op]:
        after = self.open[row.key] = msgspec.structs.replace(row, sequence=record.sequence, **changes)
        return [*upsert(after), *self._count_item(row, after)]

    def _count_item(self, before: TaskRow | None, after: TaskRow) -> list[Op]:
        """Update the counts of the item's job."""
        job = self.open.get(self.jobs.get(after.job, ""))
        if job is None or job.items is None or job.key == after.key:
            return []
        items = count_item(job.items, before, after)
        if items == job.items:
            return []
        job = self.open[job.key] = msgspec.structs.replace(job, items=items, sequence=after.sequence)
        return upsert(job)


#: The fields that `task.updated` changes.
_FIELDS = (
    "status",
    "title",
    "assignee",
    "priority",
    "blocker",
    "depends_on",
    "progress",
    "phase",
    "counters",
    "refs",
    "parent_task",
)


def _derive_resting_status(row: TaskRow) -> TaskStatus:
    """Return the status by the task's attempts and assignee alone."""
    if any(attempt.status == "running" for attempt in row.attempts):
        return "running"
    return "claimed" if row.assignee else "open"
