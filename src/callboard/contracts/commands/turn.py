"""Commands that send input to an agent, and that stop or resume it."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from ..errors import Refusal
from ..facts.turn import Mode, PermissionMode
from .base import Answer, Command, Id, Prompt, Reason, command

#: Handling of input to a busy thread.
WhenBusy = Literal["queue", "interrupt", "refuse"]


class Attachment(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, forbid_unknown_fields=True
):
    """Content sent with the input: an `upload` by id, or an existing `blob` by hash.

    Exactly one is set. `name` is the name of a blob.
    """

    upload: Id | None = None
    blob: Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$(?!\n)")] | None = None
    name: Annotated[str, Meta(max_length=255)] = ""


Attachments = Annotated[tuple[Attachment, ...], Meta(max_length=20)]


class TurnAccepted(Answer, frozen=True, kw_only=True):
    """The accepted turn. `sequence` is its newest fact, to wait for in a read."""

    session_id: str
    thread_id: str
    turn_id: str
    status: Literal["started", "queued"]
    sequence: int


@command("submit_turn", TurnAccepted, authority="anyone")
class SubmitTurn(Command, frozen=True, kw_only=True):
    """Accept input, and start or queue a turn.

    Without `session_id` a session is created in `workspace_id`. Names after an @ in the text are resolved at that moment
    and added to the context. `permission_mode` defaults to the mode of the thread's last turn, in a new thread to the
    folder's default.
    """

    text: Prompt
    workspace_id: Id | None = None
    session_id: Id | None = None
    thread_id: Id | None = None
    turn_id: Id | None = None
    mode: Mode = "chat"
    permission_mode: PermissionMode | None = None
    when_busy: WhenBusy = "queue"
    attachments: Attachments = ()

    def validate(self) -> None:
        """Refuse a blank text."""
        require_text(self.text)

    def build_default_key(self) -> str:
        """Return the id of the turn as its key (CTL-02)."""
        return f"turn:{self.turn_id}" if self.turn_id is not None else ""


class SteerQueued(Answer, frozen=True, kw_only=True):
    """The input, for the next model call of the turn."""

    session_id: str
    turn_id: str
    steer_id: str
    sequence: int


@command("steer_turn", SteerQueued)
class SteerTurn(Command, frozen=True, kw_only=True):
    """Add input to a running turn, for its next model call."""

    session_id: Id
    text: Prompt
    thread_id: Id | None = None
    steer_id: Id | None = None
    attachments: Attachments = ()

    def validate(self) -> None:
        """Refuse a blank text."""
        require_text(self.text)


class ThreadChanged(Answer, frozen=True, kw_only=True):
    """The thread after the command. `turn_id` is its running turn; empty for none."""

    session_id: str
    thread_id: str
    turn_id: str
    sequence: int


@command("interrupt_turn", ThreadChanged)
class InterruptTurn(Command, frozen=True, kw_only=True):
    """Stop the running turn of a thread.

    `queued` keeps or clears the queue behind it. With `cascade` its children are cancelled as well.
    """

    session_id: Id
    thread_id: Id | None = None
    turn_id: Id | None = None
    queued: Literal["keep", "clear"] = "keep"
    cascade: bool = False
    reason: Reason = ""


@command("resume_thread", ThreadChanged)
class ResumeThread(Command, frozen=True, kw_only=True):
    """Resume a paused thread and its queue.

    With `tree` the agent and its children that stopped with their process continue as well.
    """

    session_id: Id
    thread_id: Id | None = None
    tree: bool = False
    reason: Reason = ""


def require_text(text: str) -> None:
    """Refuse a blank text.

    Raises:
        Refusal: `invalid_input`.
    """
    if not text.strip():
        raise Refusal("invalid_input", "text must not be empty.", field="text", hint="Enter a message.")
