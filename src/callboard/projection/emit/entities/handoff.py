"""Translations of facts about handoffs, channels and inboxes."""

from __future__ import annotations

from callboard.contracts.facts.base import Fact
from callboard.contracts.facts.exchange.channel import ChannelClosed, ChannelMessage, ChannelOpened
from callboard.contracts.facts.exchange.handoff import (
    HandoffAccepted,
    HandoffCompleted,
    HandoffRejected,
    HandoffRequested,
    ReplyEnded,
)
from callboard.contracts.facts.exchange.inbox import InboxConsumed, InboxReserved
from callboard.contracts.vocabulary import EventClass, Phase

from ..agentui_emission import EMITTED_BY_OTHERS, Emission, Emissions
from ..run_emission import Translation, emit_event, send_text, update_state


def _emit_lane(phase: Phase, status: str, kind: EventClass = "agent.changed") -> Emissions:
    return (Emission(kind, "agent", "agent", phase, "handoff_lane", "archive", None, {"status": status}),)


def _emit_accepted(fact: Fact) -> Emissions:
    if isinstance(fact, HandoffAccepted) and fact.ownership:
        return (*_emit_lane("accepted", "accepted"), *_emit_lane("acting", "active", "agent.handoff"))
    return _emit_lane("accepted", "accepted")


def _emit_completed(fact: Fact) -> Emissions:
    returned = isinstance(fact, HandoffCompleted) and fact.returned
    return _emit_lane("completed", "returned" if returned else "completed")


def _emit_channel(phase: Phase) -> Emissions:
    return (Emission("agent.changed", "agent", "agent", phase, "teammate_transcript", "archive"),)


TRANSLATIONS: dict[type[Fact], Translation] = {
    HandoffRequested: Translation(
        _emit_lane("submitted", "handoff_requested"),
        emit_event("Message", role="agent", channel="handoff"),
        ("handoff.requested",),
    ),
    HandoffAccepted: Translation(_emit_accepted, update_state("handoff_accepted"), ("handoff.accepted",)),
    HandoffRejected: Translation(
        _emit_lane("cancelled", "rejected"), update_state("handoff_rejected"), ("handoff.rejected",)
    ),
    HandoffCompleted: Translation(_emit_completed, update_state("handoff_completed"), ("handoff.completed",)),
    ReplyEnded: Translation(_emit_lane("completed", "returned")),
    ChannelOpened: Translation(_emit_channel("accepted"), subagents=("channel.opened",)),
    ChannelMessage: Translation(
        _emit_channel("acting"), send_text("message", "agent", channel="message"), ("channel.message",)
    ),
    ChannelClosed: Translation(_emit_channel("completed"), subagents=("channel.closed",)),
    # The message and its acceptance produce the events.
    InboxReserved: Translation(EMITTED_BY_OTHERS),
    InboxConsumed: Translation(EMITTED_BY_OTHERS),
}
