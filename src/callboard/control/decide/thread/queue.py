"""Changes of a thread's queue."""

from __future__ import annotations

from callboard.contracts.commands.queue import EditQueuedTurn, PromoteQueuedTurn, QueueChanged, RemoveQueuedTurn
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.queue import QueueEdited, QueuePromoted, QueueRemoved

from ...batch import Batch, build_thread_scope
from ...resolved_context import ResolvedContext, merge_contexts
from ...state.session import Thread
from ..subagent import ending


def remove_turn(batch: Batch, request: RemoveQueuedTurn) -> QueueChanged:
    """Remove a turn from the queue. A child that waits for a slot with no other turn is cancelled.

    Raises:
        Refusal: `turn_not_queued`.
    """
    thread = _require_queued(batch, request.turn_id)
    batch.add(QueueRemoved(reason=request.reason), build_thread_scope(thread, request.turn_id))
    thread = batch.get_thread(thread.thread)
    if thread.child is not None and thread.child.status == "queued" and not thread.queue:
        ending.end_child(batch, thread, thread.child, "cancelled", request.reason or "its turn was removed")
    return _build_answer(batch, thread)


def promote_turn(batch: Batch, request: PromoteQueuedTurn) -> QueueChanged:
    """Move a queued turn to the front.

    Raises:
        Refusal: `turn_not_queued`.
    """
    thread = _require_queued(batch, request.turn_id)
    if thread.queue[0].turn != request.turn_id:
        batch.add(QueuePromoted(reason=request.reason), build_thread_scope(thread, request.turn_id))
    return _build_answer(batch, thread)


def edit_turn(batch: Batch, request: EditQueuedTurn) -> QueueChanged:
    """Replace the input of a queued turn and keep its attachments.

    Raises:
        Refusal: `turn_not_queued`.
    """
    thread = _require_queued(batch, request.turn_id)
    queued = next(queued_turn for queued_turn in thread.queue if queued_turn.turn == request.turn_id)
    attached = ResolvedContext(refs=tuple(ref for ref in queued.refs if ref.source == "attached"))
    context = merge_contexts(attached, batch.inputs.resolved_context)
    batch.add_blobs(*context.blobs)
    batch.add(
        QueueEdited(input=batch.store_text(request.text), given=context.refs, missing=context.missing),
        build_thread_scope(thread, request.turn_id),
    )
    return _build_answer(batch, thread)


def _require_queued(batch: Batch, turn: str) -> Thread:
    for thread in batch.state.threads.values():
        if any(queued.turn == turn for queued in thread.queue):
            return thread
    raise Refusal(
        "turn_not_queued",
        f"The turn {turn} is not queued.",
        field="turnId",
        hint="It started or was removed. get_thread_read shows the queue.",
    )


def _build_answer(batch: Batch, thread: Thread) -> QueueChanged:
    return QueueChanged(
        session_id=batch.state.session,
        thread_id=thread.thread,
        queued=tuple(queued.turn for queued in batch.get_thread(thread.thread).queue),
        sequence=batch.state.sequence,
    )
