"""The status line of each thread. Every status comes from a fact; live frames only refine it (`live`)."""

from __future__ import annotations

from typing import Any

import msgspec

from callboard.contracts.facts.action import ActionEndFact, ActionRequired
from callboard.contracts.facts.model import CostRecorded, ModelCompleted, ModelFailed, ModelRequested, RoutingResolved
from callboard.contracts.facts.queue import QueueAdded
from callboard.contracts.facts.session import ThreadOpened, ThreadPaused, ThreadResumed
from callboard.contracts.facts.task import TaskEndFact, TaskFailed, TaskPaused, TaskResumed, TaskStarted
from callboard.contracts.facts.tool import ToolEndFact, ToolRequested, ToolStarted
from callboard.contracts.facts.turn import (
    TurnCompleted,
    TurnFailed,
    TurnInterrupted,
    TurnInterruptRequested,
    TurnStarted,
    TurnSubmitted,
)
from callboard.contracts.record import Record
from callboard.contracts.rows.base import Op
from callboard.contracts.rows.status import StatusRow

from .actions import get_requested_tool
from .reducer import Reducer, on, upsert
from .turns import add_tokens

#: The fields of the row that a fact changes.
Changes = dict[str, Any]
_READY: Changes = {"status": "idle", "detail": "ready"}
_PAUSED: Changes = {"status": "blocked", "detail": "paused", "tool": ""}


class RunStatus(Reducer):
    """The status of an open run.

    Attributes:
        stopping: Whether an interrupt was requested.
        running: The tools of its running calls.
        waiting: The tools of its actions without an answer.
    """

    stopping: bool = False
    running: dict[str, str] = msgspec.field(default={})
    waiting: dict[str, str] = msgspec.field(default={})

    @on
    def route(self, record: Record, fact: RoutingResolved, row: StatusRow) -> Changes:
        return {"status": "routing", "provider": fact.chosen.provider, "model": fact.chosen.model}

    @on
    def request_model(self, record: Record, fact: ModelRequested, row: StatusRow) -> Changes:
        return {
            "status": "preparing",
            "detail": "asking_model",
            "tool": "",
            "provider": fact.provider,
            "model": fact.model,
            "iteration": max(row.iteration, fact.iteration),
        }

    @on
    def retry_model(self, record: Record, fact: ModelFailed, row: StatusRow) -> Changes:
        if fact.retry_in_ms is None:
            return {}
        return {"status": "retrying", "detail": "waiting_retry", "tool": ""}

    @on
    def complete_model(self, record: Record, fact: ModelCompleted, row: StatusRow) -> Changes:
        return {"status": "streaming", "detail": "answering", "tool": ""}

    @on
    def add_usage(self, record: Record, fact: CostRecorded, row: StatusRow) -> Changes:
        return {
            "input_tokens": add_tokens(row.input_tokens, fact.input_tokens),
            "output_tokens": add_tokens(row.output_tokens, fact.output_tokens),
        }

    @on
    def request_interrupt(self, record: Record, fact: TurnInterruptRequested, row: StatusRow) -> Changes:
        self.stopping = True
        return {"detail": "stopping"}

    @on
    def request_call(self, record: Record, fact: ToolRequested, row: StatusRow) -> Changes:
        return self._find_busiest() or {"status": "streaming", "detail": "calling_tool", "tool": fact.tool}

    @on
    def start_call(self, record: Record, fact: ToolStarted, row: StatusRow) -> Changes:
        self.running[record.scope.tool_call] = fact.tool
        return self._find_busiest()

    @on
    def end_call(self, record: Record, fact: ToolEndFact, row: StatusRow) -> Changes:
        self.running.pop(record.scope.tool_call, None)
        return self._find_busiest() or {"status": "preparing", "detail": "asking_model", "tool": ""}

    @on
    def require_action(self, record: Record, fact: ActionRequired, row: StatusRow) -> Changes:
        self.waiting[record.scope.action] = get_requested_tool(fact)
        return self._find_busiest()

    @on
    def end_action(self, record: Record, fact: ActionEndFact, row: StatusRow) -> Changes:
        tool = self.waiting.pop(record.scope.action, "")
        return self._find_busiest() or {"status": "streaming", "detail": "calling_tool", "tool": tool}

    def _find_busiest(self) -> Changes:
        """Return the status of the open calls, if there are any: a waiting call ranks above a running one."""
        if self.waiting:
            return {"status": "blocked", "detail": "waiting_approval", "tool": next(reversed(self.waiting.values()))}
        if self.running:
            return {"status": "streaming", "detail": "running_tool", "tool": next(reversed(self.running.values()))}
        return {}


class ThreadStatus(Reducer):
    """The status of a thread.

    Attributes:
        run: Its open run.
        paused_tasks: Its paused tasks. Without a run, the thread waits for them.
        failed_tasks: Its tasks whose newest attempt failed.
    """

    row: StatusRow
    run: RunStatus | None = None
    paused_tasks: set[str] = msgspec.field(default=set())
    failed_tasks: set[str] = msgspec.field(default=set())

    def collect_changes(self, record: Record) -> Changes:
        """Return the fields that the fact changes."""
        run = self.run
        if run is not None and type(record.fact) in RunStatus.FACTS:
            changes = run.handle(record, self.row)
        else:
            changes = self.handle(record)
        if changes and self.run is not None and self.run.stopping:
            changes["detail"] = "stopping"
        return changes or {}

    @on
    def submit_turn(self, record: Record, fact: TurnSubmitted) -> Changes:
        if self.run is not None or self.row.paused is not None:
            return {}
        return {"status": "accepted", "detail": "submitted", "turn_id": record.scope.turn, "run_id": "", "tool": ""}

    @on
    def queue_turn(self, record: Record, fact: QueueAdded) -> Changes:
        submitted = self.row.status == "accepted" and self.row.turn_id == record.scope.turn
        return {**_READY, "turn_id": ""} if submitted else {}

    @on
    def start_turn(self, record: Record, fact: TurnStarted) -> Changes:
        self.run = RunStatus() if self.run is None else self.run
        return {
            "status": "accepted",
            "detail": "submitted",
            "turn_id": record.scope.turn,
            "run_id": record.scope.run,
            "tool": "",
            "iteration": 0,
            "max_iters": fact.max_iters,
            "input_tokens": None,
            "output_tokens": None,
        }

    @on
    def complete_turn(self, record: Record, fact: TurnCompleted) -> Changes:
        return self._end_turn(status="done", detail="completed")

    @on
    def fail_turn(self, record: Record, fact: TurnFailed) -> Changes:
        return self._end_turn(status="failed", detail="failed")

    @on
    def interrupt_turn(self, record: Record, fact: TurnInterrupted) -> Changes:
        return self._end_turn(status="done", detail="interrupted")

    @on
    def pause(self, record: Record, fact: ThreadPaused) -> Changes:
        return {"paused": fact.cause, **({} if self.run is not None else _PAUSED)}

    @on
    def resume(self, record: Record, fact: ThreadResumed) -> Changes:
        return {"paused": None, **({} if self.run is not None or self.paused_tasks else _READY)}

    @on
    def start_task(self, record: Record, fact: TaskStarted) -> Changes:
        self.failed_tasks.discard(record.scope.task)
        return {}

    @on
    def pause_task(self, record: Record, fact: TaskPaused) -> Changes:
        task = record.scope.task
        return {} if task in self.failed_tasks else self._pause_tasks(self.paused_tasks | {task})

    @on
    def resume_task(self, record: Record, fact: TaskResumed) -> Changes:
        return self._pause_tasks(self.paused_tasks - {record.scope.task})

    @on
    def fail_task(self, record: Record, fact: TaskFailed) -> Changes:
        self.failed_tasks.add(record.scope.task)
        return self._pause_tasks(self.paused_tasks - {record.scope.task})

    @on
    def end_task(self, record: Record, fact: TaskEndFact) -> Changes:
        self.failed_tasks.discard(record.scope.task)
        return self._pause_tasks(self.paused_tasks - {record.scope.task})

    def _pause_tasks(self, tasks: set[str]) -> Changes:
        was_paused, self.paused_tasks = bool(self.paused_tasks), tasks
        if self.run is not None or self.row.paused is not None or bool(tasks) == was_paused:
            return {}
        return dict(_PAUSED if tasks else _READY)

    def _end_turn(self, **changes: str) -> Changes:
        self.run = None
        return dict(_PAUSED) if self.paused_tasks else {**changes, "tool": ""}


class StatusPanel(Reducer):
    """The threads of the session, by id."""

    USES = (ThreadStatus.FACTS, RunStatus.FACTS)
    threads: dict[str, ThreadStatus] = msgspec.field(default={})

    def apply(self, record: Record) -> list[Op]:
        """Return the row operations of the fact."""
        if type(record.fact) in self.HANDLERS:
            return self.handle(record)
        thread = self.threads.get(record.scope.thread)
        if thread is None:
            return []
        changes = thread.collect_changes(record)
        if not changes:
            return []
        thread.row = msgspec.structs.replace(
            thread.row, sequence=record.sequence, since=record.header.at, epoch=record.header.epoch, **changes
        )
        return upsert(thread.row)

    @on
    def open(self, record: Record, fact: ThreadOpened) -> list[Op]:
        row = StatusRow(
            key=record.scope.thread,
            order=record.sequence,
            sequence=record.sequence,
            thread_id=record.scope.thread,
            agent_id=record.scope.agent,
            agent_name=fact.agent_name,
            status="idle",
            detail="ready",
            since=record.header.at,
            epoch=record.header.epoch,
        )
        self.threads[record.scope.thread] = ThreadStatus(row=row)
        return upsert(row)
