"""The rule of idle agents.

An agent with unread input or open work and no run never has the state `completed` or `running`. It is
paused with a reason, one `resume_thread` gives it a run, and it needs attention. The rule reads the
state and no event, so it applies after every path: an interrupt, a failure, a crash, a message that
wakes no agent.

Three kinds of agents need no pause, because another fact explains what they wait for:

- A child that waits for a slot, or an agent that sleeps until a time, gets its run without a
  person.
- An agent of a paused task or job, or of an item that waits for a slot of its job: `task.paused` and
  `job.item.retried` give the reason. `resume_task` and `resume_job` end the wait, unless the agent
  works on another task as well.
- A child that failed or was cancelled has that state, and its parent was notified. `resume_thread`
  delivers its unread input.
"""

from __future__ import annotations

from callboard.contracts.facts.session import PauseCause, ThreadPaused

from ...batch import Batch, build_thread_scope
from ...state.session import Session, Thread
from .inbox import list_deliverable
from .queue_eligibility import find_startable, is_working_on_paused_task

#: Maximum number of agents in a chain of wakes without a person.
MAX_HOPS = 32
#: Why an agent does not read its inbox, by how its newest turn ended.
_ENDS = {
    "completed": "it reads them with a person's next message",
    "failed": "its last turn failed",
    "interrupted": "its last turn was interrupted",
}


def pause_idle(batch: Batch, cause: PauseCause) -> None:
    """Pause each idle agent that the rule applies to. Nothing else would start it."""
    for thread in list(batch.state.threads.values()):
        reason = find_pause_reason(batch.state, thread) if thread.paused is None else ""
        if reason:
            batch.add(ThreadPaused(cause=cause, reason=reason), build_thread_scope(thread))


def find_pause_reason(state: Session, thread: Thread) -> str:
    """Return why the agent must be paused; empty if it runs, is about to run, or has nothing unread
    or open."""
    if not (thread.inbox or thread.queue):
        # Most agents of a large team. The checks below read all tasks.
        return ""
    if thread.run is not None or thread.kind == "human" or _is_waiting_for_other(state, thread):
        return ""
    unread = len(list_deliverable(thread))
    if unread:
        how = thread.ended.how if thread.ended is not None else "completed"
        return f"{unread} unread {'item' if unread == 1 else 'items'}: {_ENDS[how]}"
    return "a queued turn did not start" if find_startable(state, thread) is not None else ""


def find_delay_reason(state: Session, thread: Thread) -> str:
    """Return why a receiver does not read its inbox until a person resumes it; empty if it reads
    it."""
    if thread.paused is not None:
        return f"it is paused ({thread.paused}) until a person resumes it"
    return "" if can_wake(state, thread) else find_pause_reason(state, thread)


def can_wake(state: Session, thread: Thread) -> bool:
    """Return True if the agent is idle and wakes for its inbox."""
    if thread.run is not None or thread.paused is not None or not thread.inbox:
        return False
    if find_startable(state, thread) is not None or is_working_on_paused_task(state, thread):
        return False
    if thread.background is not None and (thread.background.is_held or thread.background.is_ended):
        return False
    if thread.kind == "human" or (thread.child is not None and thread.child.status != "running"):
        return False
    if thread.ended is not None and thread.ended.how != "completed":
        # A failed turn would likely fail again, and an interrupted one was stopped for a reason.
        return False
    return thread.thread != state.lead or (thread.last is not None and thread.last.mode == "auto")


def can_resume(state: Session, thread: Thread) -> bool:
    """Return True if `resume_thread` gives the agent a run: it is paused, or has unread input that
    nothing else delivers."""
    if thread.paused is not None:
        return True
    if (
        thread.run is not None
        or thread.kind == "human"
        or thread.thread in state.waiting
        or is_working_on_paused_task(state, thread)
    ):
        return False
    return bool(list_deliverable(thread)) and not (thread.child is not None and thread.child.job)


def _is_waiting_for_other(state: Session, thread: Thread) -> bool:
    child, background = thread.child, thread.background
    if child is not None and (child.ending or child.status in ("failed", "cancelled")):
        return True
    if background is not None and not background.is_ended and (background.is_held or background.wake_at):
        return True
    return thread.thread in state.waiting or (
        is_working_on_paused_task(state, thread) and not _is_working_on_other(state, thread)
    )


def _is_working_on_other(state: Session, thread: Thread) -> bool:
    return any(
        task.work == "running" and not task.paused and task.thread == thread.thread for task in state.tasks.values()
    )


def pause_chain(batch: Batch, thread: Thread, hops: int) -> None:
    """Pause the agent that would extend a chain of wakes beyond its limit."""
    batch.add(
        ThreadPaused(cause="no_progress", reason=f"{hops} agents woke each other without a person"),
        build_thread_scope(thread),
    )
