"""Agents that are programs of their own: started in a folder, prompted, asked about, stopped. And agents elsewhere: reached at
an address, given a task, followed until that end says that it is over.

What they say and do comes as events in the order in which it happened. What a program asks (may I, read this, write that) comes
as an event with a key, and waits until it is answered under that key; what an agent elsewhere needs waits for `answer`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Literal, Protocol

import msgspec

from ..content import Blob
from ..entities.plan import PlanStep
from ..entities.team import RemoteTaskState
from ..errors import Code
from ..facts.agent import RemotePart
from ..facts.turn import PermissionMode
from .model import Usage

#: The calls that start an agent's command and contact one elsewhere. The agent was told nothing yet.
START_AGENT = "StartAgent"
CONNECT_AGENT = "ConnectAgent"
#: The calls in which an agent elsewhere says that it needs something of a person: an answer, or to be authorised there.
REMOTE_INPUT = "RemoteInput"
REMOTE_AUTH = "RemoteAuth"

#: What kind of thing a call of such an agent does, as far as it tells.
CallKind = Literal["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"]
CallStatus = Literal["pending", "in_progress", "completed", "failed"]
#: Why a prompt came to its end. `cancelled` follows `cancel`, or the agent stopped by itself.
PromptEnd = Literal["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"]
PermissionAnswer = Literal["allow", "reject", "cancelled"]


#: The `mode` of an `AgentControl` that leaves the mode to the agent's own settings.
OWN_MODE = "own"


class AgentSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The mode and the model that are in force in a conversation, by the agent's own names. Empty where it reports none."""

    mode: str = ""
    model: str = ""


class AgentControl(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent is held to. `permission` bounds the modes that it may work in. `mode` and `model` name those of the agent
    that its definition asks for, empty for a mode that asks and for the agent's own model."""

    permission: PermissionMode = "ask"
    mode: str = ""
    model: str = ""


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


class TextReported(msgspec.Struct, frozen=True):
    """A piece of the answer. Another `message` begins another part."""

    text: str
    message: str = ""


class ThoughtReported(msgspec.Struct, frozen=True):
    """A piece of reasoning."""

    text: str
    message: str = ""


class CallReported(msgspec.Struct, frozen=True):
    """A call began, went on or ended."""

    call: ExternalCall


class PlanReported(msgspec.Struct, frozen=True):
    """The agent's plan, whole."""

    steps: tuple[PlanStep, ...]


class PermissionRequested(msgspec.Struct, frozen=True):
    """May this call go on? To be answered with `permit`."""

    key: int
    call: ExternalCall


class ReadRequested(msgspec.Struct, frozen=True):
    """The agent wants the text of a file, from `line` (from 1) on, `limit` lines of it. To be answered with `give`."""

    key: int
    path: str
    line: int | None = None
    limit: int | None = None


class WriteRequested(msgspec.Struct, frozen=True):
    """The agent wants a file to have this content. To be answered with `give`."""

    key: int
    path: str
    content: str


class SettingsReported(msgspec.Struct, frozen=True):
    """The agent changed its mode or its model. `allowed` is False for a mode that allows more than the permission mode."""

    settings: AgentSettings
    allowed: bool = True


class PromptEnded(msgspec.Struct, frozen=True):
    """The prompt came to its end; the last event."""

    end: PromptEnd
    usage: Usage = Usage()


class TaskReported(msgspec.Struct, frozen=True):
    """The agent elsewhere told a state of its task. `message` is what it said with it, but for what it says as its answer."""

    task: str
    state: RemoteTaskState
    message: str = ""


class ArtifactReported(msgspec.Struct, frozen=True, kw_only=True):
    """It delivered an artifact, whole. `blobs` hold the contents that the parts refer to; `left_out` counts the parts beyond
    the bound, which are not kept."""

    task: str
    artifact: str
    name: str = ""
    description: str = ""
    parts: tuple[RemotePart, ...] = ()
    left_out: int = 0
    blobs: tuple[Blob, ...] = ()


class NeedReported(msgspec.Struct, frozen=True, kw_only=True):
    """It goes on only with something of a person's: `message` says what. To be answered with `answer`; an authorisation that
    was given there is answered with the empty text."""

    tool: Literal["RemoteInput", "RemoteAuth"]
    task: str
    message: str


ExternalEvent = (
    TextReported
    | ThoughtReported
    | CallReported
    | PlanReported
    | PermissionRequested
    | ReadRequested
    | WriteRequested
    | SettingsReported
    | PromptEnded
)
RemoteEvent = TextReported | TaskReported | ArtifactReported | NeedReported | PromptEnded


class ExternalFailure(Exception):
    """The agent could not be started, broke off or does not answer."""

    def __init__(self, code: Code, message: str, *, retryable: bool = False) -> None:
        super().__init__(message)
        self.code: Code = code
        self.message = message
        self.retryable = retryable


class ReachedAgent(Protocol):
    """A conversation with an agent that is not of our loop. `id` is the agent's own name for it, empty as long as it has none;
    `resumed` says that the agent goes on with the conversation that it was asked for, and so remembers it."""

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

    async def cancel(self) -> None:
        """Asks the agent to stop; what it was still asking is answered as cancelled. The prompt then ends by itself. Raises
        ExternalFailure where it cannot be asked."""
        ...

    async def close(self) -> None:
        """Ends the agent with all that it started, or lets go of one that is elsewhere."""
        ...


class ExternalSession(ReachedAgent, Protocol):
    """A conversation with a running program."""

    @property
    def settings(self) -> AgentSettings:
        """The mode and the model in force, as far as the program reports."""
        ...

    @property
    def allowed(self) -> bool:
        """False for a mode in force that allows more than the permission mode that the program was held to last."""
        ...

    async def control(self, wanted: AgentControl) -> None:
        """Put the agent into a mode that the permission mode allows, and choose its model.

        Raises:
            ExternalFailure: `agent_mode_unavailable` where there is no such mode, or the agent does not accept it;
                `unknown_model`.
        """
        ...

    def prompt(self, text: str) -> AsyncGenerator[ExternalEvent]:
        """Gives the agent its next input. Yields what comes of it, `PromptEnded` last. Raises ExternalFailure."""
        ...

    def permit(self, key: int, answer: PermissionAnswer) -> None:
        """Answers what asked for permission under that key."""
        ...

    def give(self, key: int, text: str = "", *, refusal: str = "", missing: bool = False) -> None:
        """Answers a read or a write under that key: with the text, or with why not. `missing` says that there is no such
        file."""
        ...


class RemoteSession(ReachedAgent, Protocol):
    """A conversation with an agent elsewhere, reached at `url`. `card` is its Agent Card as JSON."""

    url: str
    card: str

    def prompt(self, text: str, *, task: str = "", more: str = "") -> AsyncGenerator[RemoteEvent]:
        """Gives the agent its next input. Yields what comes of it, `PromptEnded` last.

        `task` is one of this conversation that was not over when it was heard of last. Where the agent still has it, that task
        is followed to its end and only `more` is sent, nothing where that is empty; else `text` is sent as a task of its own.
        Raises ExternalFailure: `remote_unavailable` where the agent is not reached within the bound, whatever the task's state
        was, and `remote_refused` for a task that ended without being completed.
        """
        ...

    def answer(self, text: str) -> bool:
        """Answers what the agent needs; False where it no longer needs it."""
        ...


class ExternalAgents(Protocol):
    """Starts agents that are programs of their own."""

    def check(self) -> None:
        """Check that agents can be started at all. Raises ExternalFailure `not_installed`."""
        ...

    async def start(
        self,
        command: tuple[str, ...],
        folder: str,
        *,
        wanted: AgentControl,
        resume: str = "",
        reads: bool = False,
        writes: bool = False,
    ) -> ExternalSession:
        """Starts the command in the folder, and a conversation with it: the one named by `resume` where the agent still has it.

        The conversation is held to what is `wanted` before this returns. `reads` and `writes` offer it to read and write files
        through us. Raises ExternalFailure.
        """
        ...


class RemoteAgents(Protocol):
    """Reaches agents elsewhere."""

    async def reach(self, url: str, *, resume: str = "") -> RemoteSession:
        """Reads the Agent Card at that address, and begins a conversation, or goes on with the one named by `resume`. Nothing
        is asked of another origin than the address's. Raises ExternalFailure."""
        ...
