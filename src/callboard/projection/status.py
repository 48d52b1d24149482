"""The status line of each thread. Every status comes from a fact; live frames only refine it (`live`)."""

from __future__ import annotations

from typing import Any

import msgspec

from callboard.contracts.facts.action import ActionExpired, ActionRequired, ActionResolved, ActionWithdrawn
from callboard.contracts.facts.model import CostRecorded, ModelCompleted, ModelFailed, ModelRequested, RoutingResolved
from callboard.contracts.facts.queue import QueueAdded
from callboard.contracts.facts.session import ThreadOpened, ThreadPaused, ThreadResumed
from callboard.contracts.facts.task import (
    TaskCancelled,
    TaskCompleted,
    TaskFailed,
    TaskPaused,
    TaskResumed,
    TaskStarted,
)
from callboard.contracts.facts.tool import (
    ToolCancelled,
    ToolCompleted,
    ToolFailed,
    ToolLost,
    ToolRefused,
    ToolRequested,
    ToolStarted,
)
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
from callboard.contracts.rows.conversation import StatusRow

from .actions import asked_tool
from .reducer import upsert
from .turns import total

Changes = dict[str, Any]


class ThreadStatus(msgspec.Struct):
    """The status of a thread.

    Attributes:
        open: Whether it has an open run.
        running: The tools of its running calls.
        waiting: The tools of its actions without an answer.
        held: Its paused tasks. Without a run, the thread waits for them.
        over: Its tasks whose newest attempt failed.
    """

    row: StatusRow
    open: bool = False
    stopping: bool = False
    running: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    waiting: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    held: set[str] = msgspec.field(default_factory=set[str])
    over: set[str] = msgspec.field(default_factory=set[str])


class StatusPanel(msgspec.Struct):
    """The threads of the session, by id."""

    threads: dict[str, ThreadStatus] = msgspec.field(default_factory=dict[str, ThreadStatus])

    def apply(self, record: Record) -> list[Op]:
        """Return the row operations of the fact."""
        if isinstance(record.fact, ThreadOpened):
            thread = self.threads[record.scope.thread] = ThreadStatus(row=_opened(record, record.fact))
            return upsert(thread.row)
        thread = self.threads.get(record.scope.thread)
        if thread is None:
            return []
        changes = _task(thread, record) if type(record.fact) in _TASK_FACTS else _turn(thread, record)
        if not changes:
            return []
        if thread.stopping:
            changes["detail"] = "stopping"
        thread.row = msgspec.structs.replace(
            thread.row, sequence=record.sequence, since=record.header.at, epoch=record.header.epoch, **changes
        )
        return upsert(thread.row)


def _opened(record: Record, fact: ThreadOpened) -> StatusRow:
    return StatusRow(
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


#: The facts that start or end a pause of a task.
_TASK_FACTS = frozenset({TaskStarted, TaskPaused, TaskResumed, TaskFailed, TaskCompleted, TaskCancelled})


def _task(thread: ThreadStatus, record: Record) -> Changes:
    was_held, task = bool(thread.held), record.scope.task
    match record.fact:
        case TaskPaused() if task not in thread.over:
            thread.held.add(task)
        case TaskFailed():
            thread.held.discard(task)
            thread.over.add(task)
        case TaskStarted():
            thread.over.discard(task)
        case TaskResumed():
            thread.held.discard(task)
        case _:
            thread.held.discard(task)
            thread.over.discard(task)
    if thread.open or thread.row.paused is not None or bool(thread.held) == was_held:
        return {}
    if thread.held:
        return {"status": "blocked", "detail": "paused", "tool": ""}
    return {"status": "idle", "detail": "ready"}


def _turn(thread: ThreadStatus, record: Record) -> Changes:
    match record.fact:
        case TurnSubmitted() if not thread.open and thread.row.paused is None:
            return {"status": "accepted", "detail": "submitted", "turn_id": record.scope.turn, "run_id": "", "tool": ""}
        case QueueAdded() if thread.row.status == "accepted" and thread.row.turn_id == record.scope.turn:
            return {"status": "idle", "detail": "ready", "turn_id": ""}
        case TurnStarted() as fact:
            thread.open = True
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
        case TurnCompleted():
            return _end(thread, status="done", detail="completed")
        case TurnFailed():
            return _end(thread, status="failed", detail="failed")
        case TurnInterrupted():
            return _end(thread, status="done", detail="interrupted")
        case ThreadPaused() as fact:
            idle = {} if thread.open else {"status": "blocked", "detail": "paused", "tool": ""}
            return {"paused": fact.cause, **idle}
        case ThreadResumed():
            return {"paused": None, **({} if thread.open or thread.held else {"status": "idle", "detail": "ready"})}
        case _:
            return _run(thread, record) if thread.open else {}


def _run(thread: ThreadStatus, record: Record) -> Changes:
    match record.fact:
        case RoutingResolved() as fact:
            return {"status": "routing", "provider": fact.chosen.provider, "model": fact.chosen.model}
        case ModelRequested() as fact:
            return {
                "status": "preparing",
                "detail": "asking_model",
                "tool": "",
                "provider": fact.provider,
                "model": fact.model,
                "iteration": max(thread.row.iteration, fact.iteration),
            }
        case ModelFailed() as fact if fact.retry_in_ms is not None:
            return {"status": "retrying", "detail": "waiting_retry", "tool": ""}
        case ModelCompleted():
            return {"status": "streaming", "detail": "answering", "tool": ""}
        case CostRecorded() as fact:
            row = thread.row
            return {
                "input_tokens": total(row.input_tokens, fact.input_tokens),
                "output_tokens": total(row.output_tokens, fact.output_tokens),
            }
        case TurnInterruptRequested():
            thread.stopping = True
            return {"detail": "stopping"}
        case _:
            return _call(thread, record)


def _call(thread: ThreadStatus, record: Record) -> Changes:
    call, action = record.scope.tool_call, record.scope.action
    match record.fact:
        case ToolRequested() as fact:
            return _busiest(thread, {"status": "streaming", "detail": "calling_tool", "tool": fact.tool})
        case ToolStarted() as fact:
            thread.running[call] = fact.tool
        case ActionRequired() as fact:
            thread.waiting[action] = asked_tool(fact)
        case ActionResolved() | ActionExpired() | ActionWithdrawn():
            tool = thread.waiting.pop(action, "")
            return _busiest(thread, {"status": "streaming", "detail": "calling_tool", "tool": tool})
        case ToolCompleted() | ToolFailed() | ToolRefused() | ToolCancelled() | ToolLost():
            thread.running.pop(call, None)
        case _:
            return {}
    return _busiest(thread, {"status": "preparing", "detail": "asking_model", "tool": ""})


def _busiest(thread: ThreadStatus, otherwise: Changes) -> Changes:
    """Return the status of the open calls: a waiting call ranks above a running one."""
    if thread.waiting:
        return {"status": "blocked", "detail": "waiting_approval", "tool": next(reversed(thread.waiting.values()))}
    if thread.running:
        return {"status": "streaming", "detail": "running_tool", "tool": next(reversed(thread.running.values()))}
    return otherwise


def _end(thread: ThreadStatus, **changes: str) -> Changes:
    thread.open = thread.stopping = False
    thread.running.clear()
    thread.waiting.clear()
    if thread.held:
        return {"status": "blocked", "detail": "paused", "tool": ""}
    return {**changes, "tool": ""}
