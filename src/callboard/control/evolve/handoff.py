"""What agents send each other: handoffs, channels, and the inboxes in which they wait."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

import msgspec

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
from callboard.contracts.handoff_envelope import news_item

from ..state.session import Session
from ..state.team import InboxItem, OpenChannel, OpenHandoff
from ..state.turn import OpenRun
from .fact_context import FactContext, change_run


def apply(state: Session, fact: HandoffFact, place: FactContext) -> Session:
    """Return the state after a fact."""
    match fact:
        case HandoffRequested():
            return requested(state, fact, place)
        case HandoffAccepted():
            return accepted(state, fact, place)
        case HandoffRejected():
            return rejected(state, fact, place)
        case HandoffCompleted():
            return completed(state, fact, place)
        case ReplyEnded():
            return reply_ended(state, fact, place)
        case ChannelOpened():
            return channel_opened(state, fact, place)
        case ChannelMessage():
            return said(state, fact)
        case ChannelClosed():
            return channel_closed(state, place)
        case InboxReserved():
            return reserved(state, fact, place)
        case InboxConsumed():
            return consumed(state, fact, place)
        case _:
            assert_never(fact)


def requested(state: Session, fact: HandoffRequested, place: FactContext) -> Session:
    handoff = OpenHandoff(
        handoff=place.scope.handoff,
        source=fact.source,
        target=fact.target,
        sender=place.scope.thread,
        receiver=fact.to_thread,
        confirm=fact.confirm,
        ownership=fact.ownership,
        resume_target=fact.resume_target,
        reply_by=fact.reply_by,
        hops=fact.hops,
    )
    state = msgspec.structs.replace(state, handoffs={**state.handoffs, handoff.handoff: handoff})
    return _add(state, fact.to_thread, _envelope(handoff.handoff, fact.source, fact.hops))


def accepted(state: Session, fact: HandoffAccepted, place: FactContext) -> Session:
    handoff = state.handoffs.get(place.scope.handoff)
    if handoff is None:
        return state
    taken = msgspec.structs.replace(handoff, accepted=True, turn=place.scope.turn)
    state = msgspec.structs.replace(
        state,
        handoffs={**state.handoffs, handoff.handoff: taken},
        owner=handoff.receiver if fact.ownership else state.owner,
    )
    if place.scope.run:
        return state
    # Somebody else accepted it, and the receiver may have read it already: it is told that it is to work on it now.
    item = InboxItem(item=news_item(handoff.handoff, "accepted"), source=fact.source, handoff=handoff.handoff)
    return _add(state, handoff.receiver, item)


def rejected(state: Session, fact: HandoffRejected, place: FactContext) -> Session:
    """What was not told leaves the inbox; its sender is told why."""
    item = InboxItem(item=news_item(place.scope.handoff, "rejected"), source=fact.target, hops=_passed_on(state, place))
    return _add(_without(state, place.scope.handoff), fact.to_thread, item)


def completed(state: Session, fact: HandoffCompleted, place: FactContext) -> Session:
    """An ownership goes back to who resumes, and that agent is told."""
    hops = _passed_on(state, place)
    state = _without(state, place.scope.handoff)
    if not fact.returned:
        return state
    state = msgspec.structs.replace(state, owner=fact.to_thread or state.lead)
    return _add(
        state, fact.to_thread, InboxItem(item=news_item(place.scope.handoff, "returned"), source=fact.target, hops=hops)
    )


def reply_ended(state: Session, fact: ReplyEnded, place: FactContext) -> Session:
    handoff = state.handoffs.get(place.scope.handoff)
    if handoff is None:
        return state
    settled = msgspec.structs.replace(handoff, reply_by=0)
    state = msgspec.structs.replace(state, handoffs={**state.handoffs, handoff.handoff: settled})
    if fact.end == "answered":
        return state
    return _add(
        state,
        fact.to_thread,
        InboxItem(item=news_item(handoff.handoff, "expired"), source=handoff.target, hops=handoff.hops),
    )


def _without(state: Session, identity: str) -> Session:
    handoff = state.handoffs.get(identity)
    if handoff is None:
        return state
    state = msgspec.structs.replace(
        state, handoffs={key: one for key, one in state.handoffs.items() if key != identity}
    )
    return _change_inbox(state, handoff.receiver, lambda inbox: tuple(one for one in inbox if one.handoff != identity))


def channel_opened(state: Session, fact: ChannelOpened, place: FactContext) -> Session:
    channel = OpenChannel(channel=place.scope.channel, participants=fact.participants)
    return msgspec.structs.replace(state, channels={**state.channels, channel.channel: channel})


def channel_closed(state: Session, place: FactContext) -> Session:
    return msgspec.structs.replace(
        state, channels={key: one for key, one in state.channels.items() if key != place.scope.channel}
    )


def said(state: Session, fact: ChannelMessage) -> Session:
    item = InboxItem(item=fact.item, source=fact.source, hops=fact.hops)
    for thread in fact.to_threads:
        state = _add(state, thread, item)
    return state


def notified(state: Session, fact: WorkerNotification, place: FactContext) -> Session:
    if not fact.item:
        return state
    child = state.threads.get(place.scope.thread)
    hops = child.ended.hops + 1 if child is not None and child.ended is not None else 0
    item = InboxItem(item=fact.item, source=place.scope.agent, worker=True, hops=hops)
    return _add(state, fact.to_thread, item)


def review_asked(state: Session, fact: ReviewRequested, place: FactContext) -> Session:
    if not fact.item:
        return state
    return _add(state, fact.to_thread, InboxItem(item=fact.item, source=fact.target, hops=_passed_on(state, place)))


def reserved(state: Session, fact: InboxReserved, place: FactContext) -> Session:
    """A run that others woke goes on counting how often what began it was passed on."""
    thread = state.threads.get(place.scope.thread)
    told = [one.hops for one in thread.inbox if one.item in fact.items] if thread is not None else []

    def tell(run: OpenRun) -> OpenRun:
        hops = max((run.hops, *told)) if run.woken else run.hops
        return msgspec.structs.replace(run, reserved=fact.items, hops=hops)

    return change_run(state, place, tell)


def consumed(state: Session, fact: InboxConsumed, place: FactContext) -> Session:
    thread = state.threads.get(place.scope.thread)
    inbox = thread.inbox if thread is not None else ()
    senders = [one.source for one in inbox if one.item in fact.items and not one.worker]

    def settle(run: OpenRun) -> OpenRun:
        left = tuple(one for one in run.reserved if one not in fact.items)
        return msgspec.structs.replace(run, reserved=left, senders=tuple(dict.fromkeys((*run.senders, *senders))))

    state = change_run(state, place, settle)
    return _change_inbox(
        state, place.scope.thread, lambda inbox: tuple(one for one in inbox if one.item not in fact.items)
    )


def _passed_on(state: Session, place: FactContext) -> int:
    """The hops of what an agent sends in a run of it; 0 of what a person does, which begins a chain anew."""
    thread = state.threads.get(place.scope.thread)
    run = thread.run if thread is not None else None
    return run.hops + 1 if run is not None and run.run == place.scope.run else 0


def _envelope(handoff: str, source: str, hops: int = 0) -> InboxItem:
    return InboxItem(item=handoff, source=source, handoff=handoff, hops=hops)


def _add(state: Session, thread: str, item: InboxItem) -> Session:
    placed = msgspec.structs.replace(item, sequence=state.sequence + 1)
    return _change_inbox(state, thread, lambda inbox: (*inbox, placed))


def _change_inbox(
    state: Session, thread: str, change: Callable[[tuple[InboxItem, ...]], tuple[InboxItem, ...]]
) -> Session:
    found = state.threads.get(thread)
    if found is None:
        return state
    changed = msgspec.structs.replace(found, inbox=change(found.inbox))
    return msgspec.structs.replace(state, threads={**state.threads, thread: changed})
