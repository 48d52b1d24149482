"""Facts of channels."""

from __future__ import annotations

from typing import assert_never

from msgspec.structs import replace

from callboard.contracts.facts.exchange.channel import ChannelClosed, ChannelFact, ChannelMessage, ChannelOpened

from ...state.inbox import InboxItem, OpenChannel
from ...state.session import Session
from ..fact_context import FactContext, drop_entry
from .inbox import add_item


def apply(state: Session, fact: ChannelFact, context: FactContext) -> Session:
    match fact:
        case ChannelOpened():
            channel = OpenChannel(channel=context.scope.channel, participants=fact.participants)
            return replace(state, channels={**state.channels, channel.channel: channel})
        case ChannelMessage():
            item = InboxItem(item=fact.item, source=fact.source, hops=fact.hops)
            for thread in fact.to_threads:
                state = add_item(state, thread, item)
            return state
        case ChannelClosed():
            return replace(state, channels=drop_entry(state.channels, context.scope.channel))
        case _:
            assert_never(fact)
