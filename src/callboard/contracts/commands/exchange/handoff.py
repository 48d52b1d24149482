"""Commands and tools that send and answer handoffs."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta

from ...entities.handoff_payload import Expectation, HandoffStatus
from ...entities.team import AgentName, Ref
from ..base import Answer, Command, Id, Reason, TeamToolArguments, command


class HandoffArguments(TeamToolArguments, frozen=True, kw_only=True):
    """Hand work or a report to an agent over an edge."""

    to: Annotated[AgentName, Meta(description="Receiver: its id, name or alias.")]
    message: Annotated[str, Meta(description="Short summary. Attach long content as artifacts.")]
    structured: dict[str, Any] | None = None
    artifacts: tuple[Ref, ...] = ()
    status: HandoffStatus | None = None
    response: Expectation | None = None
    context_ref: Annotated[str, Meta(max_length=1000)] = ""
    meta: dict[str, Any] | None = None
    ownership: Annotated[
        bool, Meta(description="Send the person's next input to the receiver, until it returns the session.")
    ] = False
    resume_target: Annotated[
        str, Meta(max_length=64, description="Agent that gets the ownership back. Default: you.")
    ] = ""
    reason: Reason = ""


class HandoffSent(Answer, frozen=True, kw_only=True):
    """The envelope is in the receiver's inbox.

    `paused` is the reason why the receiver is paused; it reads the envelope once it is resumed.
    """

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
    """Accept, reject or return a handoff."""

    handoff_id: Id
    decision: Literal["accept", "reject", "complete"]
    reason: Reason = ""


class HandoffAnswered(Answer, frozen=True, kw_only=True):
    """The handoff with its new status."""

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
