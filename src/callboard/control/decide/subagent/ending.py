"""Ends of children, and the notifications to their parents."""

from __future__ import annotations

from callboard.contracts.content import Text
from callboard.contracts.facts.exchange.channel import ChannelClosed
from callboard.contracts.facts.queue import QueueRemoved
from callboard.contracts.facts.subagent import (
    NotificationStatus,
    SubagentCancelled,
    SubagentClosed,
    SubagentCompleted,
    SubagentFailed,
    WorkerNotification,
)
from callboard.contracts.facts.task import TaskCancelled, TaskCompleted, TaskFailed
from callboard.contracts.scope import Scope

from ...batch import Batch, build_thread_scope
from ...state.session import Thread
from ...state.subagent import Child
from ...state.turn import TurnEnd
from ...task_status import was_stopped
from ..artifact.versions import close_worktree
from .child_scope import ENDED, build_child_scope

#: Maximum characters of a result in a notification; the transcript has all of it.
MAX_SUMMARY_CHARS = 500


def complete_child(batch: Batch, thread: Thread, child: Child, result: Text, *, plain_text: bool = False) -> None:
    """Record that the child's work is complete: finalized, or with `plain_text` only answered."""
    scope = build_child_scope(thread, child)
    batch.add(SubagentCompleted(result=result, usage=thread.usage, plain_text=plain_text), scope)
    if _is_working(batch, thread, child):
        batch.add(TaskCompleted(summary=result.text[:MAX_SUMMARY_CHARS], plain_text=plain_text), scope)
    notify_parent(batch, thread, child, "completed", result, plain_text=plain_text)
    if child.job and not child.worktree:
        # The item has the result. A worktree stays until it is merged.
        end_child(batch, batch.get_thread(thread.thread), _require_child(batch, thread), "closed", "its item is done")


def fail_child(
    batch: Batch,
    thread: Thread,
    child: Child,
    code: str,
    message: str,
    result: Text | None = None,
    *,
    by_parent: bool = False,
) -> None:
    """Record that the objective failed, and remove the queued turns."""
    scope = build_child_scope(thread, child)
    for queued in thread.queue:
        batch.add(QueueRemoved(reason=f"the child failed ({code})"), build_thread_scope(thread, queued.turn))
    batch.add(SubagentFailed(code=code, message=message, result=result or Text(), usage=thread.usage), scope)
    if _is_working(batch, thread, child):
        batch.add(TaskFailed(code=code, message=message), scope)
    notify_parent(batch, thread, child, "failed", result or Text(), message, by_parent=by_parent)


def interrupt_child(batch: Batch, thread: Thread, child: Child, end: TurnEnd) -> None:
    """Record that the child's attempt was interrupted. It can be resumed; with a paused task the
    attempt stays open."""
    task = batch.state.tasks.get(child.task)
    if task is not None and not task.paused and not task.cancelling and _is_working(batch, thread, child):
        message = end.message or f"The turn was interrupted ({end.code})."
        batch.add(TaskFailed(code="interrupted", message=message), build_child_scope(thread, child))
    notify_parent(batch, thread, child, "interrupted", end.text)


def end_child(batch: Batch, thread: Thread, child: Child, ending: str, reason: str) -> None:
    """Record that the child was cancelled or closed. A result that it had stays. A closed child
    accepts nothing more."""
    scope = build_child_scope(thread, child)
    if child.status not in ENDED:
        result = thread.ended.text if thread.ended is not None else Text()
        batch.add(SubagentCancelled(reason=reason, result=result, usage=thread.usage), scope)
        if _is_working(batch, thread, child) or _was_working(batch, thread, child):
            batch.add(TaskCancelled(reason=reason), scope)
        notify_parent(batch, thread, child, "cancelled", result, reason)
    if ending != "closed":
        return
    for channel in [
        open_channel for open_channel in batch.state.channels.values() if thread.agent in open_channel.participants
    ]:
        batch.add(
            ChannelClosed(participants=channel.participants, reason="the child was closed"),
            Scope(agent=thread.agent, thread=thread.thread, channel=channel.channel),
        )
    if child.worktree:
        close_worktree(batch, thread.thread, scope)
    batch.add(SubagentClosed(reason=reason, worktree=child.worktree, branch=child.branch, base=child.base), scope)


def _require_child(batch: Batch, thread: Thread) -> Child:
    child = batch.get_thread(thread.thread).child
    if child is None:
        raise LookupError(f"{thread.agent} is not a child")
    return child


def _is_working(batch: Batch, thread: Thread, child: Child) -> bool:
    """Return True while this child works on its task. The task may be done, failed or another
    agent's by now."""
    task = batch.state.tasks.get(child.task)
    return task is not None and task.thread == thread.thread and task.work == "running"


def _was_working(batch: Batch, thread: Thread, child: Child) -> bool:
    """Return True for an interrupted child that would have continued its task. An item of a job is
    retried by another child instead."""
    task = batch.state.tasks.get(child.task)
    return (
        task is not None
        and not task.job
        and task.thread == thread.thread
        and child.status != "running"
        and was_stopped(thread)
    )


def notify_parent(
    batch: Batch,
    thread: Thread,
    child: Child,
    status: NotificationStatus,
    result: Text,
    summary: str = "",
    *,
    by_parent: bool = False,
    plain_text: bool = False,
) -> None:
    """Notify the parent of a child's state. The notification waits in the inbox even if a call
    waits for the child: that call can be stopped first. A parent that acted itself is not notified,
    and a job's worker reports to its job."""
    is_silent = by_parent or bool(child.job) or child.parent not in batch.state.threads
    batch.add(
        WorkerNotification(
            item="" if is_silent else batch.inputs.ids.new("item"),
            to_thread=child.parent,
            status=status,
            summary=summary or result.text[:MAX_SUMMARY_CHARS],
            result=result,
            transcript=thread.thread,
            usage=thread.usage,
            plain_text=plain_text,
        ),
        build_child_scope(thread, child),
    )
