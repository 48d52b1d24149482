"""Ports of external agents (programs) and remote agents (A2A).

Their output arrives as ordered events. A request of an external agent (permission, read, write) is
an event with a key; it waits for the answer with that key. A request of a remote agent waits for
`answer`.
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

#: Calls that start an external agent's command, and that contact a remote agent. The agent has
#: received nothing yet.
START_AGENT = "StartAgent"
CONNECT_AGENT = "ConnectAgent"
#: Calls for a request of a remote agent: an answer, or an authorisation there.
REMOTE_INPUT = "RemoteInput"
REMOTE_AUTH = "RemoteAuth"

#: Kind of an external agent's call, as it reports it.
CallKind = Literal["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"]
CallStatus = Literal["pending", "in_progress", "completed", "failed"]
#: Why a prompt ended. `cancelled` follows `cancel`, or the agent stopped without a request.
PromptEnd = Literal["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"]
PermissionAnswer = Literal["allow", "reject", "cancelled"]


#: The `mode` of an `AgentControl` that leaves the mode to the agent's own settings.
OWN_MODE = "own"


class AgentSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Mode and model of a conversation, by the agent's own names; empty if it reports none."""

    mode: str = ""
    model: str = ""


class AgentControl(msgspec.Struct, frozen=True, kw_only=True):
    """Limits of an external agent.

    `permission` limits its modes. `mode` and `model` are its definition's; empty for a mode that
    asks, and for the agent's own model.
    """

    permission: PermissionMode = "ask"
    mode: str = ""
    model: str = ""


class ExternalDiff(msgspec.Struct, frozen=True, kw_only=True):
    """A past or planned change of a file. `path` is as the agent wrote it. `before` is None for a new file."""

    path: str
    before: str | None
    after: str


class ExternalCall(msgspec.Struct, frozen=True, kw_only=True):
    """The present state of an external agent's call; each event has all of it.

    `arguments` is JSON text, empty if unknown. `command` is set for a shell command. `paths` are
    the named files.
    """

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
    """A piece of the answer. A new `message` begins a new part."""

    text: str
    message: str = ""


class ThoughtReported(msgspec.Struct, frozen=True):
    """A piece of reasoning."""

    text: str
    message: str = ""


class CallReported(msgspec.Struct, frozen=True):
    """A call began, changed or ended."""

    call: ExternalCall


class PlanReported(msgspec.Struct, frozen=True):
    """The agent's complete plan."""

    steps: tuple[PlanStep, ...]


class PermissionRequested(msgspec.Struct, frozen=True):
    """Request to run a call. Answer it with `permit`."""

    key: int
    call: ExternalCall


class ReadRequested(msgspec.Struct, frozen=True):
    """Request for `limit` lines of a file, from `line` (from 1). Answer it with `answer_file_request`."""

    key: int
    path: str
    line: int | None = None
    limit: int | None = None


class WriteRequested(msgspec.Struct, frozen=True):
    """Request to write a file. Answer it with `answer_file_request`."""

    key: int
    path: str
    content: str


class SettingsReported(msgspec.Struct, frozen=True):
    """The agent changed its mode or model.

    `allowed` is False for a mode with more permissions than the permission mode.
    """

    settings: AgentSettings
    allowed: bool = True


class PromptEnded(msgspec.Struct, frozen=True):
    """The prompt ended. The last event."""

    end: PromptEnd
    usage: Usage = Usage()


class TaskReported(msgspec.Struct, frozen=True):
    """A remote agent reported a state of its task, with a message that is not part of its answer."""

    task: str
    state: RemoteTaskState
    message: str = ""


class ArtifactReported(msgspec.Struct, frozen=True, kw_only=True):
    """A remote agent delivered a complete artifact.

    `blobs` are the contents of its parts. `left_out` counts the parts beyond the limit, which are
    not stored.
    """

    task: str
    artifact: str
    name: str = ""
    description: str = ""
    parts: tuple[RemotePart, ...] = ()
    left_out: int = 0
    blobs: tuple[Blob, ...] = ()


class NeedReported(msgspec.Struct, frozen=True, kw_only=True):
    """A remote agent needs an answer or an authorisation.

    Answer it with `answer`; after an authorisation with an empty text.
    """

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
    """The agent could not be started, disconnected, or does not respond."""

    def __init__(self, code: Code, message: str, *, retryable: bool = False) -> None:
        super().__init__(message)
        self.code: Code = code
        self.message = message
        self.retryable = retryable


class ReachedAgent(Protocol):
    """A conversation with an external or remote agent.

    `id` is the agent's id for it, empty before it has one. `resumed`: the agent continues the
    requested conversation.
    """

    id: str
    name: str
    version: str
    resumed: bool

    @property
    def alive(self) -> bool:
        """Return False once the agent is gone."""
        ...

    async def wait_for_end(self) -> str:
        """Wait until the agent is gone, and return how it ended."""
        ...

    async def cancel(self) -> None:
        """Ask the agent to stop, and answer its open requests as cancelled. The prompt then ends.

        Raises:
            ExternalFailure: The agent is unreachable.
        """
        ...

    async def close(self) -> None:
        """End an external agent with all its processes, or disconnect from a remote one."""
        ...


class ExternalSession(ReachedAgent, Protocol):
    """A conversation with a running external agent."""

    @property
    def settings(self) -> AgentSettings:
        """Return the present mode and model, as far as the agent reports them."""
        ...

    @property
    def allowed(self) -> bool:
        """Return False for a mode with more permissions than the newest permission mode."""
        ...

    async def control(self, wanted: AgentControl) -> None:
        """Set the agent to a mode that the permission mode allows, and to its model.

        Raises:
            ExternalFailure: `agent_mode_unavailable` if there is no such mode or the agent rejects
                it; `unknown_model`.
        """
        ...

    def prompt(self, text: str) -> AsyncGenerator[ExternalEvent]:
        """Send the next input, and yield its events up to `PromptEnded`.

        Raises:
            ExternalFailure: The agent failed.
        """
        ...

    def permit(self, key: int, answer: PermissionAnswer) -> None:
        """Answer the permission request with that key."""
        ...

    def answer_file_request(self, key: int, text: str = "", *, refusal: str = "", missing: bool = False) -> None:
        """Answer the read or write request with that key: with the text, or with a refusal.

        `missing`: the file does not exist.
        """
        ...


class RemoteSession(ReachedAgent, Protocol):
    """A conversation with a remote agent at `url`. `card` is its Agent Card as JSON."""

    url: str
    card: str

    def prompt(self, text: str, *, task: str = "", more: str = "") -> AsyncGenerator[RemoteEvent]:
        """Send the next input, and yield its events up to `PromptEnded`.

        Args:
            task: An open task of this conversation. If the agent still has it, it is followed to
                its end and only `more` is sent, if any. Otherwise `text` is sent as a new task.
        Raises:
            ExternalFailure: `remote_unavailable` if the agent is unreachable for too long,
                `remote_refused` if the task ended without success.
        """
        ...

    def answer(self, text: str) -> bool:
        """Answer the agent's request. Return False if it no longer waits for one."""
        ...


class ExternalAgents(Protocol):
    """Starter of external agents."""

    def check(self) -> None:
        """Check that external agents can be started.

        Raises:
            ExternalFailure: `not_installed`.
        """
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
        """Start the command in the folder, and a conversation with it that is limited to `wanted`.

        Args:
            resume: Id of a conversation to resume, if the agent still has it.
            reads: Offer the agent to read files through Callboard.
            writes: Offer the agent to write files through Callboard.
        Raises:
            ExternalFailure: The agent could not be started or limited.
        """
        ...


class RemoteAgents(Protocol):
    """Connector to remote agents."""

    async def connect(self, url: str, *, resume: str = "") -> RemoteSession:
        """Read the Agent Card at the address, and begin or resume a conversation.

        Contacts no other origin.

        Raises:
            ExternalFailure: The agent is unreachable or its card is invalid.
        """
        ...
