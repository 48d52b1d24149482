"""Consequences of a decision for the team: ended children are reported, slots filled, waiting calls
ended, agents woken. They derive from the state alone."""

from __future__ import annotations

from callboard.contracts.facts.session import ThreadPaused

from ..batch import Batch, build_thread_scope
from ..state.session import Session, Thread
from ..state.subagent import Child
from ..state.turn import TurnEnd
from .agent.background import put_to_sleep, wake_due_agents
from .exchange import review
from .job.control import pause_interrupted_jobs
from .job.start_items import settle_jobs
from .subagent import ending, slots, waits
from .task import completion
from .thread.wake import wake_agent
from .tool.calls import proceed
from .turn.idle import can_wake, pause_idle
from .turn.inbox import complete_handoffs, list_deliverable
from .turn.start import start_next


def follow(batch: Batch, *, starts: bool = True) -> None:
    """Add consequences until there are none left. Without `starts` nothing begins: the process that
    ran the team ended, and a person resumes it."""
    if _is_single_agent(batch.state):
        return
    if not starts:
        pause_interrupted_jobs(batch)
    while True:
        before = batch.state.sequence
        for thread in list(batch.state.threads.values()):
            _end_turn(batch, thread)
        put_to_sleep(batch)
        if starts:
            _start(batch)
        else:
            _pause_all(batch)
        if batch.state.sequence == before:
            completion.settle_tasks(batch)
            settle_jobs(batch)
        if batch.state.sequence == before:
            pause_idle(batch, "unread" if starts else "recovered")
        if batch.state.sequence == before:
            break
    put_to_sleep(batch)
    slots.record_load(batch)


def _is_single_agent(state: Session) -> bool:
    """Return True for a session of one agent without any work."""
    lead = state.threads.get(state.lead)
    return lead is None or (len(state.threads) == 1 and not state.tasks and lead.team is None and not lead.inbox)


def _start(batch: Batch) -> None:
    wake_due_agents(batch)
    # A child with unread input keeps its slot, before the children that wait for one.
    for child in (True, False):
        for thread in list(batch.state.threads.values()):
            if (thread.child is not None) is not child:
                continue
            if thread.inbox:
                wake_agent(batch, thread)
            if not child:
                _start_queued(batch, thread.thread)
        if child:
            slots.fill_slots(batch)
            for thread_id in waits.settle_waits(batch):
                proceed(batch, thread_id)


def _start_queued(batch: Batch, thread_id: str) -> None:
    """Start a queued turn of an idle agent whose task was resumed. A child's turn waits for a slot."""
    thread = batch.state.threads.get(thread_id)
    if thread is not None and thread.queue and thread.child is None and thread.run is None and thread.paused is None:
        start_next(batch, thread_id)


def _pause_all(batch: Batch) -> None:
    queued = set(batch.state.waiting)
    for thread in list(batch.state.threads.values()):
        if thread.background is not None:
            # Its schedule still applies: it receives its inbox when it wakes.
            continue
        if thread.run is None and thread.paused is None and (thread.thread in queued or can_wake(batch.state, thread)):
            batch.add(ThreadPaused(cause="recovered", reason="its process ended"), build_thread_scope(thread))


def _end_turn(batch: Batch, thread: Thread) -> None:
    """Complete the handoffs of an ended turn, and end a child with nothing left to do."""
    end = thread.ended
    if thread.run is not None or end is None:
        return
    if batch.state.handoffs and end.how == "completed":
        complete_handoffs(batch, thread)
    child = thread.child
    if child is None or child.status != "running":
        return
    if child.ending:
        ending.end_child(batch, thread, child, child.ending, child.reason)
    elif thread.paused is not None and end.how == "completed":
        ending.notify_parent(batch, thread, child, "needs_input", end.text, "its queued turn could not start")
    elif not (list_deliverable(thread) and end.how == "completed"):
        _end_child(batch, thread, child, end)


def _end_child(batch: Batch, thread: Thread, child: Child, end: TurnEnd) -> None:
    match end.how:
        case "completed" if child.review:
            review.open_child_review(batch, thread, child)
            ending.notify_parent(batch, thread, child, "ready_for_review", end.text, plain_text=end.plain_text)
        case "completed":
            ending.complete_child(batch, thread, child, end.text, plain_text=end.plain_text)
        case "failed":
            ending.fail_child(batch, thread, child, end.code, end.message, end.text)
        case "interrupted":
            ending.interrupt_child(batch, thread, child, end)
