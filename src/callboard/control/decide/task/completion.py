"""Ends of tasks and of their attempts."""

from __future__ import annotations

from callboard.contracts.facts.task import SnapshotUpdated, TaskCancelled, TaskCompleted, TaskFailed

from ...batch import Batch
from ...state.session import Thread
from ...state.task import OpenTask
from ...state.turn import TurnEnd
from ...task_status import build_task_scope, find_task_run, find_task_worker, list_subtasks
from ..subagent.ending import MAX_SUMMARY_CHARS
from ..turn.queue_eligibility import find_startable


def settle_tasks(batch: Batch) -> None:
    """Record which tasks ended. The end of a subtask can end its parent task."""
    before = -1
    while batch.state.tasks and before != batch.state.sequence:
        before = batch.state.sequence
        for task in list(batch.state.tasks.values()):
            if task.cancelling:
                _end_cancelled(batch, task)
            elif task.work == "running" and not task.paused:
                _end_attempt(batch, task)


def _end_cancelled(batch: Batch, task: OpenTask) -> None:
    """Record the cancelling of a task once its workers have stopped and its subtasks have ended. A
    child's task ends with the child."""
    if find_task_worker(batch.state, task) is not None and task.work == "running":
        return
    if find_task_run(batch.state, task) is not None or any(
        subtask.cancelling for subtask in list_subtasks(batch.state, task.task)
    ):
        return
    scope = build_task_scope(batch.state, task)
    batch.add(TaskCancelled(reason=task.reason), scope)
    batch.add(SnapshotUpdated(through=batch.state.sequence), scope)


def _end_attempt(batch: Batch, task: OpenTask) -> None:
    """End an attempt with its turn, once its subtasks ended and were reported. An attempt whose
    process ended ends immediately. A child's task ends with the child."""
    thread = batch.state.threads.get(task.thread)
    if (
        thread is None
        or not task.turn
        or task.entity == "automation_job"
        or find_task_worker(batch.state, task) is not None
    ):
        return
    end = _find_attempt_end(batch, task, thread)
    if end is None:
        return
    interrupted_by_host = end.was_interrupted_by_host
    if not interrupted_by_host and any(subtask.work == "running" for subtask in list_subtasks(batch.state, task.task)):
        return
    scope = build_task_scope(batch.state, task)
    match end.how:
        case "completed":
            batch.add(
                TaskCompleted(summary=end.text.text[:MAX_SUMMARY_CHARS], refs=task.refs, plain_text=end.plain_text),
                scope,
            )
        case "failed":
            batch.add(TaskFailed(code=end.code, message=end.message), scope)
        case "interrupted" if interrupted_by_host or not task.implied:
            message = end.message or f"The turn was stopped ({end.code})."
            batch.add(TaskFailed(code="interrupted", message=message), scope)
        case "interrupted":
            batch.add(TaskCancelled(reason="the turn was interrupted"), scope)
    batch.add(SnapshotUpdated(through=batch.state.sequence), scope)


def _find_attempt_end(batch: Batch, task: OpenTask, thread: Thread) -> TurnEnd | None:
    """Return how the attempt ended; None while it is open. If the agent delegated subtasks, its turn
    that received their reports is the end."""
    end = task.ended
    if end is None or end.how == "interrupted" or not (task.implied or task.delegated):
        return end
    if thread.run is not None or thread.ended is None or find_startable(batch.state, thread) is not None:
        return None
    return None if thread.inbox and thread.ended.how == "completed" else thread.ended
