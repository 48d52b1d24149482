"""Resume of paused or interrupted threads, for one agent or for its tree."""

from __future__ import annotations

import msgspec

from callboard.contracts.commands.turn import ResumeThread, ThreadChanged
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.queue import QueueAdded, QueuePromoted
from callboard.contracts.facts.session import ThreadResumed
from callboard.contracts.facts.task import TaskStarted
from callboard.contracts.facts.turn import TurnSubmitted
from callboard.contracts.scope import Scope

from ...batch import Batch, build_thread_scope
from ...state.session import Session, Thread
from ...state.turn import QueuedTurn
from ..agent.addressing import carry_mode
from ..subagent.child_scope import ENDED, list_children
from ..subagent.slots import start_or_wait
from ..turn.idle import can_resume
from ..turn.inbox import list_deliverable
from ..turn.queue_eligibility import find_startable
from ..turn.start import build_thread_answer, require_thread, start_turn
from .wake import deliver_inbox

#: Input of an agent whose turn ended with its process.
RESUME_INPUT = "You were interrupted because your process ended. Check what is already done, then continue your task."


def resume_thread(batch: Batch, request: ResumeThread) -> ThreadChanged:
    """Resume a paused thread. A thread with unread input and an empty queue gets a turn with that
    input. With `tree` its children that were paused, or interrupted by the end of their process,
    resume too.

    Raises:
        Refusal: `thread_not_paused`, `task_paused`, and the codes of `start_turn`.
    """
    thread = require_thread(batch.state, request.thread_id)
    tree = (thread, *list_children(batch.state, thread.thread)) if request.tree else ()
    stopped = [other for other in tree if _can_continue(batch.state, other)]
    if not stopped and not can_resume(batch.state, thread):
        raise Refusal("thread_not_paused", "The thread is not paused.", hint="Submit a turn instead.")
    if not stopped and _is_waiting_for_task(batch.state, thread):
        raise Refusal(
            "task_paused",
            f"{thread.agent} waits for its task, which is paused or waits for a slot of its job.",
            field="threadId",
            hint="Use resume_task or resume_job. An item begins when its job has a free slot.",
        )
    for member in stopped or [thread]:
        _continue_thread(batch, member, request)
    return build_thread_answer(batch, thread.thread)


def _can_continue(state: Session, thread: Thread) -> bool:
    if thread.run is not None or (thread.child is not None and (thread.child.status in ENDED or thread.child.job)):
        # A job's worker resumes with its job.
        return False
    return not _is_waiting_for_task(state, thread) and (
        can_resume(state, thread) or _was_interrupted_by_process(thread)
    )


def _is_waiting_for_task(state: Session, thread: Thread) -> bool:
    """Return True for a child whose task is paused, or whose item waits for a slot of its job."""
    task = state.tasks.get(thread.child.task) if thread.child is not None else None
    if task is None or find_startable(state, thread) is not None:
        return False
    return task.paused or (bool(task.job) and not task.work)


def _was_interrupted_by_process(thread: Thread) -> bool:
    return thread.ended is not None and thread.ended.was_interrupted_by_host


def _continue_thread(batch: Batch, thread: Thread, request: ResumeThread) -> None:
    if thread.paused is not None:
        batch.add(ThreadResumed(reason=request.reason), build_thread_scope(thread))
    resumed_turn: QueuedTurn | None = None
    if request.tree and _was_interrupted_by_process(thread) and thread.last is not None:
        resumed_turn = QueuedTurn(
            turn=batch.inputs.ids.new("turn"),
            mode=thread.last.mode,
            permission_mode=carry_mode(batch, thread, thread.last.permission_mode),
        )
        scope = build_thread_scope(thread, resumed_turn.turn)
        batch.add(
            TurnSubmitted(
                input=batch.store_text(RESUME_INPUT),
                mode=resumed_turn.mode,
                permission_mode=resumed_turn.permission_mode,
                resumes=True,
            ),
            _begin_turn_scope(batch, thread, resumed_turn.turn, request.reason),
        )
        if thread.child is not None or thread.queue:
            batch.add(QueueAdded(position=len(thread.queue) + 1), scope)
        if thread.queue:
            batch.add(QueuePromoted(reason="the interrupted work continues first"), scope)
    first = find_startable(batch.state, batch.get_thread(thread.thread)) or resumed_turn
    if first is None and list_deliverable(batch.get_thread(thread.thread)):
        deliver_inbox(batch, batch.get_thread(thread.thread))
    elif thread.child is not None:
        start_or_wait(batch, thread.thread)
    elif first is not None:
        start_turn(batch, thread.thread, first)


def _begin_turn_scope(batch: Batch, thread: Thread, turn: str, reason: str) -> Scope:
    """Return the scope of the turn. If the previous turn worked on a task of the board, record
    another attempt at that task."""
    last = thread.last.turn if thread.last is not None else ""
    task = next((other for other in batch.state.tasks.values() if other.turn and other.turn == last), None)
    if task is None or task.work != "over" or task.paused or task.cancelling:
        return build_thread_scope(thread, turn)
    scope = msgspec.structs.replace(build_thread_scope(thread, turn), task=task.task, attempt=task.attempt + 1)
    batch.add(TaskStarted(assignee=thread.agent, reason=reason), scope)
    return scope
