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

#: Why a background agent sleeps: it joined, its run ended, its run ended after its next wake time
#: (which is skipped), its task was resumed, or its task ended (it never wakes again).
SleepReason = Literal["joined", "ran", "skipped", "resumed", "ended"]
#: What woke a background agent: its schedule, a fact that its definition names, its inbox, or a
#: person.
WakeReason = Literal["schedule", "fact", "inbox", "person"]


class AgentConnected(Fact, frozen=True, kw_only=True):
    """An external agent was started, or a remote agent was reached, with the conversation `provider_session_id`.

    `resumed`: it continues an earlier conversation of this thread. `card` is a remote agent's Agent
    Card as JSON. `mode` and `model` are an external agent's own names, empty if it reports none.
    """

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
    """An external agent changed its mode or model, by its own names.

    `allowed` is False for a mode with more permissions than the permission mode: Callboard resets
    it, or ends the agent.
    """

    type: ClassVar[str] = "agent.mode.changed"
    needs: ClassVar[tuple[ScopeKey, ...]] = _THREAD
    erased: ClassVar[ErasedForm] = {"mode": UNKNOWN}
    mode: str
    model: str = ""
    allowed: bool = True


class AgentDisconnected(Fact, frozen=True, kw_only=True):
    """An external agent ended, or a remote agent is unreachable.

    Its conversation may be resumed by `provider_session_id`.
    """

    type: ClassVar[str] = "agent.disconnected"
    needs: ClassVar[tuple[ScopeKey, ...]] = _THREAD
    erased: ClassVar[ErasedForm] = {"provider_session_id": ""}
    provider_session_id: str
    reason: str = ""


class AgentSlept(Fact, frozen=True, kw_only=True):
    """A background agent sleeps until `wake_at` (microseconds since the epoch, 0 for never) or a fact of a type in `wake_on`.

    `schedule` is its definition's, such as `every 1800 s` or a cron line. The scope's task is the
    task of its runs. `permission_mode` is the widest mode of a run without a person: the session's
    when the agent joined.
    """

    type: ClassVar[str] = "agent.slept"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("agent", "thread", "task")
    erased: ClassVar[ErasedForm] = {"reason": "ran", "permission_mode": "planning"}
    reason: SleepReason
    wake_at: int = 0
    wake_on: tuple[str, ...] = ()
    schedule: str = ""
    permission_mode: PermissionMode = "ask"


class AgentWoke(Fact, frozen=True, kw_only=True):
    """A background agent woke for the turn in the scope.

    `due` is the scheduled time, 0 for none. `cause` is the id of the event that woke it, empty for
    none.
    """

    type: ClassVar[str] = "agent.woke"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("agent", "thread", "task", "turn")
    erased: ClassVar[ErasedForm] = {"reason": "schedule"}
    reason: WakeReason
    due: int = 0
    cause: str = ""


class AgentDefined(Fact, frozen=True, kw_only=True):
    """The agent in the scope defined another agent for this session, with a person's approval.

    `definition` is a `contracts.ports.agents.Definition` as JSON.
    """

    type: ClassVar[str] = "agent.defined"
    needs: ClassVar[tuple[ScopeKey, ...]] = _THREAD
    name: str
    definition: Text


class EdgeAdded(Fact, frozen=True, kw_only=True):
    """The agent in the scope added an edge from the agent `source` to this session, with a person's approval."""

    type: ClassVar[str] = "agent.edge.added"
    needs: ClassVar[tuple[ScopeKey, ...]] = _THREAD
    source: str
    edge: Edge


_TURN: tuple[ScopeKey, ...] = ("agent", "thread", "turn", "run")


class RemoteTaskChanged(Fact, frozen=True, kw_only=True):
    """A remote agent reported a state of its task, with a `message` (Agent UI specification, Remote protocol task).

    The state is `unknown` if it is not in the vocabulary, or if the agent stopped reporting.
    """

    type: ClassVar[str] = "remote.task"
    needs: ClassVar[tuple[ScopeKey, ...]] = _TURN
    erased: ClassVar[ErasedForm] = {"remote_task_id": "", "state": "unknown", "message": ERASED}
    remote_task_id: str
    state: RemoteTaskState
    message: Text = Text()


class RemotePart(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, gc=False):
    """A part of a remote artifact: text, JSON data as text, or a file with its bytes in `content`.

    `url` is the agent's address of the file; Callboard does not fetch it.
    """

    media: str
    name: str = ""
    text: Text = Text()
    content: BlobRef | None = None
    url: str = ""


class RemoteArtifact(Fact, frozen=True, kw_only=True):
    """A remote agent delivered a complete artifact, which replaces a former one with the same id.

    `left_out` counts the parts beyond the limit, which are not stored.
    """

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
