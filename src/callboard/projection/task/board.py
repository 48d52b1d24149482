"""The board: one row a task, with its attempts."""

from __future__ import annotations

from typing import Any

import msgspec

from callboard.contracts.entities.team import TaskStatus
from callboard.contracts.facts import (
    AgentSlept,
    AgentWoke,
    Fact,
    JobCreated,
    JobItemRetried,
    QueueRemoved,
    ReviewRequested,
    SubagentContinued,
    SubagentStarted,
    TaskCancelled,
    TaskCancelRequested,
    TaskCompleted,
    TaskCreated,
    TaskFailed,
    TaskPaused,
    TaskResumed,
    TaskStarted,
    TaskUpdated,
    ThreadPaused,
    ThreadResumed,
    TurnCompleted,
    TurnFailed,
    TurnInterrupted,
    TurnStarted,
    TurnSubmitted,
    WorkerNotification,
)
from callboard.contracts.record import Record
from callboard.contracts.rows import Op, TaskRow
from callboard.contracts.rows.team import Comment, JobItems

from ..ops import upsert
from ..run_end import ended
from . import attempts
from . import job_counts as jobs

#: How many comments of a task are kept in its row.
COMMENTS = 50
#: The facts that change the board.
TAKES: frozenset[type[Fact]] = frozenset(
    {
        TaskCreated,
        JobCreated,
        JobItemRetried,
        TaskStarted,
        TaskPaused,
        TaskResumed,
        TaskCancelRequested,
        TaskUpdated,
        TaskCompleted,
        TaskFailed,
        TaskCancelled,
        AgentSlept,
        AgentWoke,
        SubagentStarted,
        SubagentContinued,
        ReviewRequested,
        TurnSubmitted,
        QueueRemoved,
        TurnStarted,
        TurnCompleted,
        TurnFailed,
        TurnInterrupted,
        ThreadPaused,
        ThreadResumed,
        WorkerNotification,
    }
)


class TasksPanel(msgspec.Struct):
    """`open` are the tasks that can still change: one that failed can be tried again. `work` is the task that each thread works
    on, `turns` that of each turn that is an attempt of one and not over, `jobs` that which each job is. `agents` has the thread
    that works on each task of an agent that is no child, `halted` those tasks whose paused agent would go on with them.
    `late` are those that a run still works on although its attempt was reported as failed before."""

    open: dict[str, TaskRow] = msgspec.field(default_factory=dict[str, TaskRow])
    work: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    turns: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    jobs: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    agents: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    halted: set[str] = msgspec.field(default_factory=set[str])
    late: set[str] = msgspec.field(default_factory=set[str])

    def apply(self, record: Record) -> list[Op]:
        """The operations that the fact leads to."""
        scope = record.scope
        match record.fact:
            case TaskCreated() as fact:
                return self._create(record, fact)
            case JobCreated():
                self.jobs[scope.job] = scope.task
                return self._change(record, items=JobItems())
            case JobItemRetried():
                return self._change(record, status="open", blocker="", ended=0)
            case TurnStarted():
                return self._run(record)
            case TurnCompleted() | TurnFailed() | TurnInterrupted():
                return self._ran(record)
            case TaskStarted() as fact:
                return self._attempt(record, fact)
            case TaskUpdated() as fact:
                return self._update(record, fact)
            case SubagentStarted() | SubagentContinued():
                self.work[scope.thread] = scope.task
                return self._change(record, status="running")
            case ReviewRequested() | WorkerNotification():
                reviewing = not isinstance(record.fact, WorkerNotification) or record.fact.status == "ready_for_review"
                return self._change(record, status="reviewing") if reviewing else []
            case AgentWoke() | TurnSubmitted() | QueueRemoved():
                return self._note(record)
            case AgentSlept() | TaskPaused() | TaskResumed() | TaskCancelRequested():
                return self._stand(record)
            case ThreadPaused() | ThreadResumed():
                return self._halt(record)
            case _:
                return self._end(record)

    def _note(self, record: Record) -> list[Op]:
        """A turn that is an attempt of a task waits, or will not come."""
        scope = record.scope
        if isinstance(record.fact, QueueRemoved):
            self.turns.pop(scope.turn, None)
        elif scope.task:
            self.turns[scope.turn] = scope.task
        return []

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
            entity=fact.entity,
            job=scope.job,
            created=record.header.at,
        )
        if scope.parent_thread:
            self.work[scope.thread] = scope.task
        elif scope.run:
            # The task of a turn that is under way: the run that made it is its attempt.
            self.turns[scope.turn] = scope.task
            self.agents[scope.task] = scope.thread
            row = self.open[scope.task] = msgspec.structs.replace(
                row, status="running", attempts=attempts.with_run((), record)
            )
        return [*upsert(row), *self._of_job(None, row)]

    def _attempt(self, record: Record, fact: TaskStarted) -> list[Op]:
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
            attempts=attempts.begun(row.attempts, record, fact.assignee),
        )

    def _run(self, record: Record) -> list[Op]:
        """A turn of a thread that works on a task begins, or one that was said to be an attempt of it."""
        turn = record.scope.turn
        task = self.turns.get(turn) or self.work.get(record.scope.thread, "")
        row = self.open.get(task)
        if row is None:
            return []
        self.turns[turn] = task
        if row.ended:
            self.late.add(task)
        status: TaskStatus = "blocked" if row.paused else "running"
        tried = attempts.with_run(row.attempts, record, again=bool(row.ended))
        return self._put(row, record, status=status, blocker="" if row.ended else row.blocker, attempts=tried, ended=0)

    def _ran(self, record: Record) -> list[Op]:
        row = self.open.get(self.turns.pop(record.scope.turn, ""))
        if row is None:
            return []
        status, detail = ended(record)
        at = record.header.at
        over = attempts.over(row.attempts, status, detail, at, run=record.scope.run)
        if row.key in self.late and row.status == "running":
            self.late.discard(row.key)
            return self._put(row, record, attempts=over, status="blocked", blocker=detail or status, ended=at)
        return self._put(row, record, attempts=over)

    def _update(self, record: Record, fact: TaskUpdated) -> list[Op]:
        row = self.open.get(record.scope.task)
        if row is None:
            return []
        changes: dict[str, Any] = {name: value for name in _TOLD if (value := getattr(fact, name)) is not None}
        if fact.status is not None and fact.status != "blocked" and fact.blocker is None:
            changes["blocker"] = ""
        if fact.comment:
            actor = record.header.actor
            by = record.scope.agent if actor is None or actor.kind == "agent" else ""
            comment = Comment(at=record.header.at, by=by, text=fact.comment)
            changes["comments"] = (*row.comments, comment)[-COMMENTS:]
        return self._put(row, record, **changes)

    def _stand(self, record: Record) -> list[Op]:
        """Nobody goes on with the task, somebody does again, or it is being stopped."""
        row = self.open.get(record.scope.task)
        match record.fact:
            case _ if row is None:
                return []
            case TaskPaused() | TaskResumed() if row.ended:
                # Why it failed stays to be read: it goes on with another attempt only.
                return self._put(row, record, paused=isinstance(record.fact, TaskPaused))
            case TaskPaused() as fact:
                return self._put(row, record, paused=True, status="blocked", blocker=fact.reason)
            case TaskResumed():
                return self._put(row, record, paused=False, status=_resting(row), blocker="")
            case TaskCancelRequested():
                return self._put(row, record, cancelling=True)
            case AgentSlept() if row.status == "running":
                return self._put(row, record, status=_resting(row))
            case _:
                return []

    def _halt(self, record: Record) -> list[Op]:
        """A paused agent works on nothing: a task that it would go on with is blocked until it is resumed."""
        thread, ops = record.scope.thread, list[Op]()
        for task in [key for key, by in self.agents.items() if by == thread]:
            row = self.open[task]
            match record.fact:
                case ThreadPaused() as fact if row.status == "running" and task not in self.turns.values():
                    self.halted.add(task)
                    ops += self._put(row, record, status="blocked", blocker=fact.reason)
                case ThreadResumed() if task in self.halted:
                    self.halted.discard(task)
                    if row.status == "blocked" and not row.paused and not row.ended:
                        # An agent that sleeps goes on at its time, with another attempt.
                        sleeps = row.entity == "automation_job" and not row.job
                        ops += self._put(row, record, status=_resting(row) if sleeps else "running", blocker="")
                case _:
                    pass
        return ops

    def _end(self, record: Record) -> list[Op]:
        row, at = self.open.get(record.scope.task), record.header.at
        if row is None:
            return []
        tried = row.attempts
        match record.fact:
            case TaskFailed() as fact:
                over = attempts.over(tried, "failed", fact.code, at)
                blocker = fact.message or fact.code
                return self._put(row, record, status="blocked", blocker=blocker, attempts=over, ended=at)
            case TaskCompleted() as fact:
                ops = self._put(
                    row,
                    record,
                    status="done",
                    summary=fact.summary,
                    plain_text=fact.plain_text,
                    refs=fact.refs or row.refs,
                    blocker="",
                    paused=False,
                    attempts=attempts.over(tried, "completed", "", at),
                    ended=at,
                )
            case TaskCancelled() as fact:
                over = attempts.over(tried, "cancelled", "", at)
                ops = self._put(
                    row,
                    record,
                    status="cancelled",
                    summary=fact.reason,
                    paused=False,
                    cancelling=False,
                    attempts=over,
                    ended=at,
                )
            case _:
                return []
        del self.open[row.key]
        self.agents.pop(row.key, None)
        self.halted.discard(row.key)
        self.late.discard(row.key)
        if self.jobs.get(row.job) == row.key:
            del self.jobs[row.job]
        self.turns = {turn: task for turn, task in self.turns.items() if task != row.key}
        return ops

    def _change(self, record: Record, **changes: Any) -> list[Op]:
        row = self.open.get(record.scope.task)
        return [] if row is None else self._put(row, record, **changes)

    def _put(self, row: TaskRow, record: Record, **changes: Any) -> list[Op]:
        after = self.open[row.key] = msgspec.structs.replace(row, sequence=record.sequence, **changes)
        return [*upsert(after), *self._of_job(row, after)]

    def _of_job(self, before: TaskRow | None, after: TaskRow) -> list[Op]:
        """The card of the job whose item this is, where its counts change with it."""
        whole = self.open.get(self.jobs.get(after.job, ""))
        if whole is None or whole.items is None or whole.key == after.key:
            return []
        items = jobs.counted(whole.items, before, after)
        if items == whole.items:
            return []
        whole = self.open[whole.key] = msgspec.structs.replace(whole, items=items, sequence=after.sequence)
        return upsert(whole)


#: What `task.updated` changes, field by field.
_TOLD = (
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


def _resting(row: TaskRow) -> TaskStatus:
    """How a task stands by its attempts and its assignee alone."""
    if any(one.status == "running" for one in row.attempts):
        return "running"
    return "claimed" if row.assignee else "open"
