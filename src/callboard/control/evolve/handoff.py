"""Facts of messages between agents: handoffs, channels and inboxes."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from msgspec.structs import replace

from callboard.contracts.facts.handoff import (
    ChannelClosed,
    ChannelMessage,
    ChannelOpened,
    HandoffAccepted,
    HandoffCompleted,
    HandoffFact,
    HandoffRejected,
    HandoffRequested,
    InboxConsumed,
    InboxReserved,
    ReplyEnded,
)
from callboard.contracts.facts.subagent import WorkerNotification
from callboard.contracts.facts.task import ReviewRequested
from callboard.contracts.handoff_envelope import build_news_id

from ..state.session import Session
from ..state.team import InboxItem, OpenChannel, OpenHandoff
from ..state.turn import OpenRun
from .fact_context import FactContext, change_run, drop_entry, find_open_run


def apply(state: Session, fact: HandoffFact, context: FactContext) -> Session:
    match fact:
        case HandoffRequested():
            return _request_handoff(state, fact, context)
        case HandoffAccepted():
            return _accept_handoff(state, fact, context)
        case HandoffRejected():
            return _reject_handoff(state, fact, context)
        case HandoffCompleted():
            return _complete_handoff(state, fact, context)
        case ReplyEnded():
            return _end_reply(state, fact, context)
        case ChannelOpened():
            channel = OpenChannel(channel=context.scope.channel, participants=fact.participants)
            return replace(state, channels={**state.channels, channel.channel: channel})
        case ChannelMessage():
            item = InboxItem(item=fact.item, source=fact.source, hops=fact.hops)
            for thread in fact.to_threads:
                state = _add_item(state, thread, item)
            return state
        case ChannelClosed():
            return replace(state, channels=drop_entry(state.channels, context.scope.channel))
        case InboxReserved():
            return _reserve_items(state, fact, context)
        case InboxConsumed():
            return _consume_items(state, fact, context)
        case _:
            assert_never(fact)


def _request_handoff(state: Session, fact: HandoffRequested, context: FactContext) -> Session:
    handoff = OpenHandoff(
        handoff=context.scope.handoff,
        source=fact.source,
        target=fact.target,
        sender=context.scope.thread,
        receiver=fact.to_thread,
        confirm=fact.confirm,
        ownership=fact.ownership,
        resume_target=fact.resume_target,
        reply_by=fact.reply_by,
        hops=fact.hops,
    )
    item = InboxItem(item=handoff.handoff, source=fact.source, handoff=handoff.handoff, hops=fact.hops)
    return _add_item(_store(state, handoff), fact.to_thread, item)


def _accept_handoff(state: Session, fact: HandoffAccepted, context: FactContext) -> Session:
    handoff = state.handoffs.get(context.scope.handoff)
    if handoff is None:
        return state
    state = _store(state, replace(handoff, accepted=True, turn=context.scope.turn))
    state = replace(state, owner=handoff.receiver if fact.ownership else state.owner)
    if context.scope.run:
        return state
    # A person accepted it, perhaps after the receiver read it: a notice asks the receiver to work on it now.
    item = InboxItem(item=build_news_id(handoff.handoff, "accepted"), source=fact.source, handoff=handoff.handoff)
    return _add_item(state, handoff.receiver, item)


def _reject_handoff(state: Session, fact: HandoffRejected, context: FactContext) -> Session:
    """Remove the unread envelope from the inbox and notify the sender."""
    handoff = context.scope.handoff
    item = InboxItem(item=build_news_id(handoff, "rejected"), source=fact.target, hops=_count_next_hops(state, context))
    return _add_item(_remove_handoff(state, handoff), fact.to_thread, item)


def _complete_handoff(state: Session, fact: HandoffCompleted, context: FactContext) -> Session:
    """Close the handoff. A returned ownership goes back to the agent that resumes, with a notice."""
    handoff, hops = context.scope.handoff, _count_next_hops(state, context)
    state = _remove_handoff(state, handoff)
    if not fact.returned:
        return state
    state = replace(state, owner=fact.to_thread or state.lead)
    item = InboxItem(item=build_news_id(handoff, "returned"), source=fact.target, hops=hops)
    return _add_item(state, fact.to_thread, item)


def _end_reply(state: Session, fact: ReplyEnded, context: FactContext) -> Session:
    handoff = state.handoffs.get(context.scope.handoff)
    if handoff is None:
        return state
    state = _store(state, replace(handoff, reply_by=0))
    if fact.end == "answered":
        return state
    item = InboxItem(item=build_news_id(handoff.handoff, "expired"), source=handoff.target, hops=handoff.hops)
    return _add_item(state, fact.to_thread, item)


def notify_parent(state: Session, fact: WorkerNotification, context: FactContext) -> Session:
    if not fact.item:
        return state
    child = state.threads.get(context.scope.thread)
    hops = child.ended.hops + 1 if child is not None and child.ended is not None else 0
    item = InboxItem(item=fact.item, source=context.scope.agent, worker=True, hops=hops)
    return _add_item(state, fact.to_thread, item)


def notify_reviewer(state: Session, fact: ReviewRequested, context: FactContext) -> Session:
    if not fact.item:
        return state
    item = InboxItem(item=fact.item, source=fact.target, hops=_count_next_hops(state, context))
    return _add_item(state, fact.to_thread, item)


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
    return _change_inbox(
        state, context.scope.thread, lambda inbox: tuple(item for item in inbox if item.item not in fact.items)
    )


def _count_next_hops(state: Session, context: FactContext) -> int:
    """Return the hops of an agent's message: one more than its run. A person's begins a new chain with 0."""
    run = find_open_run(state, context)
    return run.hops + 1 if run is not None else 0


def _store(state: Session, handoff: OpenHandoff) -> Session:
    return replace(state, handoffs={**state.handoffs, handoff.handoff: handoff})


def _remove_handoff(state: Session, handoff_id: str) -> Session:
    handoff = state.handoffs.get(handoff_id)
    if handoff is None:
        return state
    return _change_inbox(
        replace(state, handoffs=drop_entry(state.handoffs, handoff_id)),
        handoff.receiver,
        lambda inbox: tuple(item for item in inbox if item.handoff != handoff_id),
    )


def _add_item(state: Session, thread: str, item: InboxItem) -> Session:
    return _change_inbox(state, thread, lambda inbox: (*inbox, replace(item, sequence=state.sequence + 1)))


def _change_inbox(
    state: Session, thread_id: str, change: Callable[[tuple[InboxItem, ...]], tuple[InboxItem, ...]]
) -> Session:
    thread = state.threads.get(thread_id)
    if thread is None:
        return state
    return replace(state, threads={**state.threads, thread_id: replace(thread, inbox=change(thread.inbox))})
