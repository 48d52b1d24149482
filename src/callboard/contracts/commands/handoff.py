"""Commands and tools that send handoffs and messages between agents."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from ..entities.handoff_payload import Expectation, HandoffStatus
from ..entities.team import AgentName, Ref
from .base import Answer, Command, Id, Reason, TeamToolArguments, command


class HandoffArguments(TeamToolArguments, frozen=True, kw_only=True):
    """Hand work, or a report of it, to an agent that an edge leads to. It is told of it in its next turn."""

    to: Annotated[AgentName, Meta(description="The receiver: its id, name or an alias.")]
    message: Annotated[str, Meta(description="A short summary; send what is long as artifacts.")]
    structured: dict[str, Any] | None = None
    artifacts: tuple[Ref, ...] = ()
    status: HandoffStatus | None = None
    response: Expectation | None = None
    context_ref: Annotated[str, Meta(max_length=1000)] = ""
    meta: dict[str, Any] | None = None
    ownership: Annotated[bool, Meta(description="The person's next words go to the receiver, until it hands back.")] = (
        False
    )
    resume_target: Annotated[
        str, Meta(max_length=64, description="Who takes the ownership back; you, if left out.")
    ] = ""
    reason: Reason = ""


class HandoffSent(Answer, frozen=True, kw_only=True):
    """The envelope waits in the receiver's inbox. `paused` says why the receiver does not read it until it is
    resumed."""

    session_id: str
    handoff_id: str
    target: str
    status: Literal["queued", "waiting_for_answer"]
    sequence: int
    paused: str = ""


@command("send_handoff", HandoffSent)
class SendHandoff(HandoffArguments, Command, frozen=True, kw_only=True):
    """Send a handoff over an edge to the inbox of an agent.

    `thread_id` is the sender's thread; it defaults to the lead's.
    """

    session_id: Id
    thread_id: Id | None = None


class RespondArguments(TeamToolArguments, frozen=True, kw_only=True):
    """Accept or reject a handoff that waits for an answer."""

    handoff_id: Id
    decision: Literal["accept", "reject", "complete"]
    reason: Reason = ""


class HandoffAnswered(Answer, frozen=True, kw_only=True):
    session_id: str
    handoff_id: str
    status: Literal["accepted", "rejected", "completed"]
    sequence: int


@command("respond_handoff", HandoffAnswered)
class RespondHandoff(RespondArguments, Command, frozen=True, kw_only=True):
    """Accept, reject or return a handoff on behalf of its receiver.

    `complete` returns an ownership that was taken over.
    """

    session_id: Id


class MessageArguments(TeamToolArguments, frozen=True, kw_only=True):
    """Send a message to other agents. It is told to them in their next turn; nobody waits."""

    to: Annotated[tuple[AgentName, ...], Meta(min_length=1, max_length=32)]
    text: Annotated[str, Meta(min_length=1, max_length=200_000)]


class MessageSent(Answer, frozen=True, kw_only=True):
    """The message waits in each receiver's inbox. `paused` names the receivers that do not read it before a person resumes
    them, each with the reason."""

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
