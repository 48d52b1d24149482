"""Agents that are programs of their own: started in a folder, prompted, asked about, stopped.

What they say and do comes as events in the order in which it happened. What they ask (may I, read this, write that) comes as an
event with a key, and waits until it is answered under that key.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Literal, Protocol

import msgspec

from ..errors import Code
from ..plan import PlanStep
from .model import Usage

#: What kind of thing a call of such an agent does, as far as it tells.
CallKind = Literal["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"]
CallStatus = Literal["pending", "in_progress", "completed", "failed"]
#: Why a prompt came to its end. `cancelled` follows `cancel`, or the agent stopped by itself.
PromptEnd = Literal["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"]
PermissionAnswer = Literal["allow", "reject", "cancelled"]


class ExternalDiff(msgspec.Struct, frozen=True, kw_only=True):
    """What a call did, or would do, to one file. `path` is as the agent wrote it; `before` is None for a new file."""

    path: str
    before: str | None
    after: str


class ExternalCall(msgspec.Struct, frozen=True, kw_only=True):
    """A call of the agent's own tools, as it is now: each event has the whole call. `arguments` is JSON text, empty where the
    agent tells none; `command` is what it would run, where the call is a command; `paths` are the files that it names."""

    call_id: str
    title: str = ""
    kind: CallKind = "other"
    status: CallStatus = "pending"
    arguments: str = ""
    command: str = ""
    paths: tuple[str, ...] = ()
    output: str = ""
    diffs: tuple[ExternalDiff, ...] = ()


class SaidText(msgspec.Struct, frozen=True):
    """A piece of the answer. Another `message` begins another part."""

    text: str
    message: str = ""


class SaidThought(msgspec.Struct, frozen=True):
    """A piece of reasoning."""

    text: str
    message: str = ""


class CallTold(msgspec.Struct, frozen=True):
    """A call began, went on or ended."""

    call: ExternalCall


class PlanTold(msgspec.Struct, frozen=True):
    """The agent's plan, whole."""

    steps: tuple[PlanStep, ...]


class PermissionAsked(msgspec.Struct, frozen=True):
    """May this call go on? To be answered with `permit`."""

    key: int
    call: ExternalCall


class ReadAsked(msgspec.Struct, frozen=True):
    """The agent wants the text of a file, from `line` (from 1) on, `limit` lines of it. To be answered with `give`."""

    key: int
    path: str
    line: int | None = None
    limit: int | None = None


class WriteAsked(msgspec.Struct, frozen=True):
    """The agent wants a file to have this content. To be answered with `give`."""

    key: int
    path: str
    content: str


class PromptEnded(msgspec.Struct, frozen=True):
    """The prompt came to its end; the last event."""

    end: PromptEnd
    usage: Usage = Usage()


ExternalEvent = SaidText | SaidThought | CallTold | PlanTold | PermissionAsked | ReadAsked | WriteAsked | PromptEnded


class ExternalFailure(Exception):
    """The agent could not be started, broke off or does not answer."""

    def __init__(self, code: Code, message: str, *, retryable: bool = False) -> None:
        super().__init__(message)
        self.code: Code = code
        self.message = message
        self.retryable = retryable


class ExternalSession(Protocol):
    """A conversation with a running agent. `id` is the agent's own name for it; `resumed` says that the agent went on with the
    conversation that it was asked for, and so remembers it."""

    id: str
    name: str
    version: str
    resumed: bool

    @property
    def alive(self) -> bool:
        """False once the agent is gone."""
        ...

    async def gone(self) -> str:
        """Waits until the agent is gone; says how it ended."""
        ...

    def prompt(self, text: str) -> AsyncGenerator[ExternalEvent]:
        """Gives the agent its next input. Yields what comes of it, `PromptEnded` last. Raises ExternalFailure."""
        ...

    def permit(self, key: int, answer: PermissionAnswer) -> None:
        """Answers what asked for permission under that key."""
        ...

    def give(self, key: int, text: str = "", *, refusal: str = "") -> None:
        """Answers a read or a write under that key: with the text, or with why not."""
        ...

    async def cancel(self) -> None:
        """Asks the agent to stop; what it was still asking is answered as cancelled. The prompt then ends by itself."""
        ...

    async def close(self) -> None:
        """Ends the agent with all that it started."""
        ...


class ExternalAgents(Protocol):
    """Starts agents that are programs of their own."""

    async def start(
        self, command: tuple[str, ...], folder: str, *, resume: str = "", reads: bool = False, writes: bool = False
    ) -> ExternalSession:
        """Starts the command in the folder, and a conversation with it: the one named by `resume` where the agent still has it.

        `reads` and `writes` offer it to read and write files through us. Raises ExternalFailure.
        """
        ...
