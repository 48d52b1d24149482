"""Which turns of a queue may start: those of a task that is paused or being cancelled wait, and others go past them."""

from __future__ import annotations

from ...state.session import QueuedTurn, Session, Thread


def find_startable(state: Session, thread: Thread) -> QueuedTurn | None:
    """The first turn of the thread's queue that may start."""
    return next((one for one in thread.queue if not is_held(state, thread, one)), None)


def is_held(state: Session, thread: Thread, turn: QueuedTurn) -> bool:
    """True for a turn of a task that nobody is to go on with, or of an item that waits for its job to have room. All that a
    child does is for its task."""
    task = state.tasks.get(thread.child.task if thread.child is not None else turn.task)
    if task is None:
        return False
    waits = bool(task.job) and thread.child is not None and not task.work
    return task.paused or task.cancelling or waits


def works_on_paused_task(state: Session, thread: Thread) -> bool:
    """True for an agent that works on a paused task: what its inbox holds waits with it."""
    return any(one.paused and one.work == "running" and one.thread == thread.thread for one in state.tasks.values())
