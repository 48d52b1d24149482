"""The command and tool that send messages to agents."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from ...entities.team import AgentName
from ..base import Answer, Command, Id, TeamToolArguments, command


class MessageArguments(TeamToolArguments, frozen=True, kw_only=True):
    """Send a message to other agents."""

    to: Annotated[tuple[AgentName, ...], Meta(min_length=1, max_length=32)]
    text: Annotated[str, Meta(min_length=1, max_length=200_000)]


class MessageSent(Answer, frozen=True, kw_only=True):
    """The message is in each receiver's inbox.

    `paused` has the reason for each paused receiver; it reads the message once it is resumed.
    """

    session_id: str
    channel_id: str
    sequence: int
    paused: dict[str, str] = msgspec.field(default_factory=dict[str, str])


@command("send_message", MessageSent)
class SendMessage(MessageArguments, Command, frozen=True, kw_only=True):
    """Send a message to agents of the session, which receive it in their next turn.

    `thread_id` is the sender's thread; it defaults to the lead's.
    """

    session_id: Id
    thread_id: Id | None = None
