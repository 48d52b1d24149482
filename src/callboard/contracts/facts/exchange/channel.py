"""Facts of channels: messages between agents (Communication specification)."""

from __future__ import annotations

from typing import ClassVar

from ...content import Text
from ...scope import ScopeKey
from ..base import Fact


class ChannelOpened(Fact, frozen=True, kw_only=True):
    """A channel between agents of the session was opened."""

    type: ClassVar[str] = "channel.opened"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("channel",)
    participants: tuple[str, ...]
    subject: str = ""


class ChannelMessage(Fact, frozen=True, kw_only=True):
    """An agent sent a message in a channel to the inboxes of `to_threads`. `item` is its id in each inbox."""

    type: ClassVar[str] = "channel.message"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("channel",)
    item: str
    source: str
    participants: tuple[str, ...]
    to_threads: tuple[str, ...]
    message: Text
    hops: int = 0


class ChannelClosed(Fact, frozen=True, kw_only=True):
    """The channel was closed to messages."""

    type: ClassVar[str] = "channel.closed"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("channel",)
    closes: ClassVar[ScopeKey | None] = "channel"
    participants: tuple[str, ...]
    reason: str = ""


ChannelFact = ChannelOpened | ChannelMessage | ChannelClosed
