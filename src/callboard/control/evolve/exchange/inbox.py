"""Facts of inboxes, and the items that other facts add to them."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from msgspec.structs import replace

from callboard.contracts.facts.exchange.inbox import InboxConsumed, InboxFact, InboxReserved
from callboard.contracts.facts.exchange.review import ReviewRequested
from callboard.contracts.facts.subagent import WorkerNotification

from ...state.inbox import InboxItem
from ...state.session import Session
from ...state.turn import OpenRun
from ..fact_context import FactContext, change_run, find_open_run


def apply(state: Session, fact: InboxFact, context: FactContext) -> Session:
    match fact:
        case InboxReserved():
            return _reserve_items(state, fact, context)
        case InboxConsumed():
            return _consume_items(state, fact, context)
        case _:
            assert_never(fact)


def notify_parent(state: Session, fact: WorkerNotification, context: FactContext) -> Session:
    if not fact.item:
        return state
    child = state.threads.get(context.scope.thread)
    hops = child.ended.hops + 1 if child is not None and child.ended is not None else 0
    item = InboxItem(item=fact.item, source=context.scope.agent, worker=True, hops=hops)
    return add_item(state, fact.to_thread, item)


def notify_reviewer(state: Session, fact: ReviewRequested, context: FactContext) -> Session:
    if not fact.item:
        return state
    item = InboxItem(item=fact.item, source=fact.target, hops=count_next_hops(state, context))
    return add_item(state, fact.to_thread, item)


def _reserve_items(state: Session, fact: InboxReserved, context: FactContext) -> Session:
    """Reserve items for the run. A run that the inbox woke continues the longest chain of its items."""
    thread = state.threads.get(context.scope.thread)
    hops = [item.hops for item in thread.inbox if item.item in fact.items] if thread is not None else []
    return change_run(
        state,
        context,
        lambda run: replace(run, reserved=fact.items, hops=max((run.hops, *hops)) if run.woken else run.hops),
    )


def _consume_items(state: Session, fact: InboxConsumed, context: FactContext) -> Session:
    thread = state.threads.get(context.scope.thread)
    inbox = thread.inbox if thread is not None else ()
    senders = [item.source for item in inbox if item.item in fact.items and not item.worker]

    def consume(run: OpenRun) -> OpenRun:
        reserved = tuple(item for item in run.reserved if item not in fact.items)
        return replace(run, reserved=reserved, senders=tuple(dict.fromkeys((*run.senders, *senders))))

    state = change_run(state, context, consume)
    return change_inbox(
        state, context.scope.thread, lambda inbox: tuple(item for item in inbox if item.item not in fact.items)
    )


def count_next_hops(state: Session, context: FactContext) -> int:
    """Return the hops of an agent's message: one more than its run. A person's begins a new chain with 0."""
    run = find_open_run(state, context)
    return run.hops + 1 if run is not None else 0


def add_item(state: Session, thread: str, item: InboxItem) -> Session:
    return change_inbox(state, thread, lambda inbox: (*inbox, replace(item, sequence=state.sequence + 1)))


def change_inbox(
    state: Session, thread_id: str, change: Callable[[tuple[InboxItem, ...]], tuple[InboxItem, ...]]
) -> Session:
    thread = state.threads.get(thread_id)
    if thread is None:
        return state
    return replace(state, threads={**state.threads, thread_id: replace(thread, inbox=change(thread.inbox))})
