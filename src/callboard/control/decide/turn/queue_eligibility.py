"""Eligibility of queued turns. Turns of a paused or cancelling task wait, and others overtake them."""

from __future__ import annotations

from ...state.session import Session, Thread
from ...state.turn import QueuedTurn


def find_startable(state: Session, thread: Thread) -> QueuedTurn | None:
    """Return the first turn of the thread's queue that can start."""
    return next((queued for queued in thread.queue if not is_held(state, thread, queued)), None)


def is_held(state: Session, thread: Thread, turn: QueuedTurn) -> bool:
    """Return True for a turn of a paused or cancelling task, or of an item that waits for a slot of
    its job. Every turn of a child is for its task."""
    task = state.tasks.get(thread.child.task if thread.child is not None else turn.task)
    if task is None:
        return False
    waits_for_room = bool(task.job) and thread.child is not None and not task.work
    return task.paused or task.cancelling or waits_for_room


def is_working_on_paused_task(state: Session, thread: Thread) -> bool:
    """Return True if the agent works on a paused task. Its inbox waits with the task."""
    return any(task.paused and task.work == "running" and task.thread == thread.thread for task in state.tasks.values())
