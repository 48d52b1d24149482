"""Inboxes of agents (Communication specification, Handoff delivery).

A run reserves items when it starts. They are consumed, once and in order, in the batch that records
its model's first response.
"""

from __future__ import annotations

from callboard.contracts.facts.exchange.handoff import HandoffAccepted, HandoffCompleted
from callboard.contracts.facts.exchange.inbox import InboxConsumed, InboxReserved
from callboard.contracts.scope import Scope

from ...batch import Batch, build_run_scope
from ...state.session import Thread
from ...state.turn import OpenRun


def list_deliverable(thread: Thread) -> tuple[str, ...]:
    """Return the items for the next turn, in order of arrival."""
    return tuple(item.item for item in thread.inbox)


def reserve_inbox(batch: Batch, thread_id: str) -> None:
    """Reserve the inbox items for the run that just began."""
    thread = batch.get_thread(thread_id)
    items = list_deliverable(thread)
    if items and thread.run is not None:
        batch.add(InboxReserved(items=items), build_run_scope(thread, thread.run))


def consume_inbox(batch: Batch, thread_id: str) -> None:
    """Consume the reserved items after the model's response, and accept handoffs among them that
    wait for no answer."""
    thread = batch.get_thread(thread_id)
    run = thread.run
    if run is None or not run.reserved:
        return
    items = run.reserved
    batch.add(InboxConsumed(items=items), build_run_scope(thread, run))
    for item in items:
        handoff = batch.state.handoffs.get(item)
        if handoff is None or handoff.receiver != thread.thread or handoff.confirm or handoff.ownership:
            continue
        if not handoff.accepted:
            batch.add(
                HandoffAccepted(source=handoff.source, target=handoff.target, reason="consumed"),
                _build_scope(thread, run, handoff.handoff),
            )


def complete_handoffs(batch: Batch, thread: Thread) -> None:
    """Complete accepted handoffs of a completed turn, except those with ownership or a due reply."""
    for handoff in list(batch.state.handoffs.values()):
        is_accepted = handoff.receiver == thread.thread and handoff.accepted and not handoff.ownership
        if is_accepted and not handoff.reply_by and not any(item.handoff == handoff.handoff for item in thread.inbox):
            batch.add(
                HandoffCompleted(
                    source=handoff.source, target=handoff.target, reason="the turn that accepted it ended"
                ),
                Scope(agent=thread.agent, thread=thread.thread, handoff=handoff.handoff),
            )


def _build_scope(thread: Thread, run: OpenRun, handoff: str) -> Scope:
    return Scope(agent=thread.agent, thread=thread.thread, turn=run.turn, run=run.run, handoff=handoff)
