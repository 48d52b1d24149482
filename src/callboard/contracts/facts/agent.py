"""Facts of agents: external, remote and background agents, and agents and edges defined for one session."""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec

from ..content import BlobRef, Text
from ..entities.team import Edge, RemoteTaskState
from ..scope import ScopeKey
from .base import ERASED, UNKNOWN, ErasedForm, Fact
from .turn import PermissionMode

_THREAD: tuple[ScopeKey, ...] = ("agent", "thread")

#: Why an agent of kind background sleeps: it joined the session, its run ended, its run ended after a time at which it was to
#: wake and which is left out, its task was resumed, or its task ended and it sleeps for good.
SleepReason = Literal["joined", "ran", "skipped", "resumed", "ended"]
#: What woke it: its time came, a fact that its schedule names, something in its inbox, or a person.
WakeReason = Literal["schedule", "fact", "inbox", "person"]


class AgentConnected(Fact, frozen=True, kw_only=True):
    """The agent was started or reached and holds a conversation, `provider_session_id` by its own name. `resumed` says that it
    goes on with an earlier one of this thread; else it remembers nothing. `card` is the Agent Card of one that is elsewhere,
    as JSON. `mode` and `model` are in force in a program, by its own names; empty where it reports none."""

    type: ClassVar[str] = "agent.connected"
    needs: ClassVar[tuple[ScopeKey, ...]] = _THREAD
    erased: ClassVar[ErasedForm] = {"provider_session_id": "", "name": UNKNOWN, "card": ERASED}
    provider_session_id: str
    name: str
    version: str = ""
    resumed: bool = False
    card: Text = Text()
    mode: str = ""
    model: str = ""


class AgentModeChanged(Fact, frozen=True, kw_only=True):
    """The program works in this mode and with this model from now on, by its own names. `allowed` is False for a mode that
    allows more than the permission mode: it is set back, or the program is ended."""

    type: ClassVar[str] = "agent.mode.changed"
    needs: ClassVar[tuple[ScopeKey, ...]] = _THREAD
    erased: ClassVar[ErasedForm] = {"mode": UNKNOWN}
    mode: str
    model: str = ""
    allowed: bool = True


class AgentDisconnected(Fact, frozen=True, kw_only=True):
    """The agent is gone: it was ended, it ended, or it is not reached. What it knew is found again under
    `provider_session_id`, where it can."""

    type: ClassVar[str] = "agent.disconnected"
    needs: ClassVar[tuple[ScopeKey, ...]] = _THREAD
    erased: ClassVar[ErasedForm] = {"provider_session_id": ""}
    provider_session_id: str
    reason: str = ""


class AgentSlept(Fact, frozen=True, kw_only=True):
    """An agent of kind background sleeps until `wake_at` (microseconds since the Unix epoch, 0 for no time), or until a fact of
    one of the types `wake_on`. `schedule` is what its definition says, such as `every 1800 s` or a cron line; the scope's task
    is the one that its runs are attempts of. Runs that nobody asked for are under no wider mode than `permission_mode`, the
    session's when it joined."""

    type: ClassVar[str] = "agent.slept"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("agent", "thread", "task")
    erased: ClassVar[ErasedForm] = {"reason": "ran", "permission_mode": "planning"}
    reason: SleepReason
    wake_at: int = 0
    wake_on: tuple[str, ...] = ()
    schedule: str = ""
    permission_mode: PermissionMode = "ask"


class AgentWoke(Fact, frozen=True, kw_only=True):
    """The agent wakes; the turn in the scope is what it wakes for. `due` is the time that came, 0 where none did; `cause` the
    id of the event that woke it, empty where none did."""

    type: ClassVar[str] = "agent.woke"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("agent", "thread", "task", "turn")
    erased: ClassVar[ErasedForm] = {"reason": "schedule"}
    reason: WakeReason
    due: int = 0
    cause: str = ""


class AgentDefined(Fact, frozen=True, kw_only=True):
    """The agent in the scope made a definition for this session, which no file holds; a person approved it. `definition` is a
    `contracts.ports.agents.Definition` as JSON."""

    type: ClassVar[str] = "agent.defined"
    needs: ClassVar[tuple[ScopeKey, ...]] = _THREAD
    name: str
    definition: Text


class EdgeAdded(Fact, frozen=True, kw_only=True):
    """An edge from the agent `source` that no file names holds for this session; a person approved it. The scope is of the
    agent that asked for it."""

    type: ClassVar[str] = "agent.edge.added"
    needs: ClassVar[tuple[ScopeKey, ...]] = _THREAD
    source: str
    edge: Edge


_TURN: tuple[ScopeKey, ...] = ("agent", "thread", "turn", "run")


class RemoteTaskChanged(Fact, frozen=True, kw_only=True):
    """The remote end told a state of its task (Agent UI specification, Remote protocol task). `unknown` where what it said is
    no state that we know, or where it no longer answers for the task. `message` is what it said with it."""

    type: ClassVar[str] = "remote.task"
    needs: ClassVar[tuple[ScopeKey, ...]] = _TURN
    erased: ClassVar[ErasedForm] = {"remote_task_id": "", "state": "unknown", "message": ERASED}
    remote_task_id: str
    state: RemoteTaskState
    message: Text = Text()


class RemotePart(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One part of what was delivered: text, data as JSON text, or a file. Bytes are kept as the blob `content`; `url` is where
    the remote end says that it is, and is not fetched."""

    media: str
    name: str = ""
    text: Text = Text()
    content: BlobRef | None = None
    url: str = ""


class RemoteArtifact(Fact, frozen=True, kw_only=True):
    """The remote end delivered an artifact, whole. One of the same id replaces the former. `left_out` counts the parts beyond
    the bound, which are not kept."""

    type: ClassVar[str] = "remote.artifact"
    needs: ClassVar[tuple[ScopeKey, ...]] = _TURN
    erased: ClassVar[ErasedForm] = {"remote_task_id": "", "remote_artifact_id": UNKNOWN}
    remote_task_id: str
    remote_artifact_id: str
    name: str = ""
    description: str = ""
    parts: tuple[RemotePart, ...] = ()
    left_out: int = 0


AgentFact = (
    AgentConnected
    | AgentModeChanged
    | AgentDisconnected
    | AgentSlept
    | AgentWoke
    | AgentDefined
    | EdgeAdded
    | RemoteTaskChanged
    | RemoteArtifact
)
