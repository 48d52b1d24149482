"""Facts of handoffs."""

from __future__ import annotations

from typing import assert_never

from msgspec.structs import replace

from callboard.contracts.facts.exchange.handoff import (
    HandoffAccepted,
    HandoffCompleted,
    HandoffFact,
    HandoffRejected,
    HandoffRequested,
    ReplyEnded,
)
from callboard.contracts.handoff_envelope import build_news_id

from ...state.handoff import OpenHandoff
from ...state.inbox import InboxItem
from ...state.session import Session
from ..fact_context import FactContext, drop_entry
from .inbox import add_item, change_inbox, count_next_hops


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
    return add_item(_store(state, handoff), fact.to_thread, item)


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
    return add_item(state, handoff.receiver, item)


def _reject_handoff(state: Session, fact: HandoffRejected, context: FactContext) -> Session:
    """Remove the unread envelope from the inbox and notify the sender."""
    handoff = context.scope.handoff
    item = InboxItem(item=build_news_id(handoff, "rejected"), source=fact.target, hops=count_next_hops(state, context))
    return add_item(_remove_handoff(state, handoff), fact.to_thread, item)


def _complete_handoff(state: Session, fact: HandoffCompleted, context: FactContext) -> Session:
    """Close the handoff. A returned ownership goes back to the agent that resumes, with a notice."""
    handoff, hops = context.scope.handoff, count_next_hops(state, context)
    state = _remove_handoff(state, handoff)
    if not fact.returned:
        return state
    state = replace(state, owner=fact.to_thread or state.lead)
    item = InboxItem(item=build_news_id(handoff, "returned"), source=fact.target, hops=hops)
    return add_item(state, fact.to_thread, item)


def _end_reply(state: Session, fact: ReplyEnded, context: FactContext) -> Session:
    handoff = state.handoffs.get(context.scope.handoff)
    if handoff is None:
        return state
    state = _store(state, replace(handoff, reply_by=0))
    if fact.end == "answered":
        return state
    item = InboxItem(item=build_news_id(handoff.handoff, "expired"), source=handoff.target, hops=handoff.hops)
    return add_item(state, fact.to_thread, item)


def _store(state: Session, handoff: OpenHandoff) -> Session:
    return replace(state, handoffs={**state.handoffs, handoff.handoff: handoff})


def _remove_handoff(state: Session, handoff_id: str) -> Session:
    handoff = state.handoffs.get(handoff_id)
    if handoff is None:
        return state
    return change_inbox(
        replace(state, handoffs=drop_entry(state.handoffs, handoff_id)),
        handoff.receiver,
        lambda inbox: tuple(item for item in inbox if item.handoff != handoff_id),
    )
