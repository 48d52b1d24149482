"""Rows of agents."""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec

from ..content import Text
from ..entities.team import BackgroundState, Isolation, Policy, QueueReason, RemoteTaskState, Role, WorkUsage
from ..facts.agent import RemotePart, WakeReason
from ..facts.session import AgentKind, PauseCause
from .base import Row
from .part import Part
from .run import RunStatus
from .status import StatusDetail
from .team import Degraded

#: State of an agent (Agent UI specification, Teammate/subagent), and `lost` after its host died.
AgentState = Literal[
    "spawning",
    "running",
    "waiting",
    "needs_input",
    "plan_ready",
    "idle",
    "failed",
    "completed",
    "killed",
    "closed",
    "lost",
    "unknown",
]


#: Connection of an agent's provider (Communication specification, Real-time connection state).
Connection = Literal["connected", "idle", "disconnected"]


class BackgroundWork(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, gc=False):
    """The schedule of a background agent.

    Times are in microseconds since the epoch, 0 for none. `last_run` is its newest ended run.
    """

    state: BackgroundState
    task_id: str
    schedule: str = ""
    wake_at: int = 0
    wake_on: tuple[str, ...] = ()
    wake_reason: WakeReason | None = None
    woke_at: int = 0
    last_run: str = ""
    last_run_status: RunStatus | None = None


class DeliveredArtifact(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, gc=False):
    """An artifact of a remote agent for its task `task_id`. `left_out` counts the parts beyond the limit."""

    artifact_id: str
    task_id: str = ""
    name: str = ""
    description: str = ""
    parts: tuple[RemotePart, ...] = ()
    left_out: int = 0
    at: int = 0


class RemoteWork(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, gc=False):
    """A remote agent's reports about itself and its newest task.

    `card` is its Agent Card as JSON. `task_state` was reported at `told_at` (microseconds since the
    epoch). `artifacts` are the newest fifty; older ones may be without their parts.
    """

    url: str
    name: str = ""
    version: str = ""
    card: Text = Text()
    task_id: str = ""
    task_state: RemoteTaskState | None = None
    message: Text = Text()
    told_at: int = 0
    artifacts: tuple[DeliveredArtifact, ...] = ()


class AgentRow(Row, tag="agent", frozen=True, kw_only=True):
    """An agent; the key is its id. Times are in microseconds since the epoch.

    - `latest_turn`, `latest_turn_status`: its newest turn. `inbox`: number of items for its next
      turn. `blocked_on`: the pending action that it waits for. `paused`: why it is paused;
      `resume_thread` resumes it.
    - `spawn_reason`, `objective`, `result`: of a child. Texts are limited to 400 characters; its
      transcript has all. `plain_text`: its result was not finalized.
    - `activity`, `tool`, `last_activity`: evidence of a stall. `stalled_since`: set if the runtime
      stopped it for no progress.
    - `queue_position`: its position when it began to wait. `unmerged`: its worktree has unmerged
      changes.
    - `epoch`: a working state is valid while it is alive.
    """

    panel: ClassVar[str] = "agents"
    agent_id: str
    name: str
    thread_id: str
    agent_kind: AgentKind
    role: Role
    state: AgentState
    definition: str = ""
    description: str = ""
    color: str = ""
    model: str = ""
    provider: str = ""
    parent_thread_id: str = ""
    parent_agent_id: str = ""
    parent_run_id: str = ""
    task_id: str = ""
    spawn_reason: str = ""
    objective: Text = Text()
    isolation: Isolation = "shared"
    work_globs: tuple[str, ...] = ()
    worktree: str = ""
    branch: str = ""
    unmerged: bool = False
    permission_mode: str = ""
    policy: tuple[Policy, ...] = ()
    connection: Connection = "idle"
    provider_session_id: str = ""
    provider_mode: str = ""
    provider_model: str = ""
    last_activity: int = 0
    activity: StatusDetail = "ready"
    tool: str = ""
    latest_turn: str = ""
    latest_turn_status: str = ""
    current_run: str = ""
    queued_turns: int = 0
    inbox: int = 0
    blocked_on: str = ""
    queue_reason: QueueReason | None = None
    queue_position: int = 0
    stalled_since: int = 0
    degraded: tuple[Degraded, ...] = ()
    usage: WorkUsage = WorkUsage()
    result: Text = Text()
    plain_text: bool = False
    background: BackgroundWork | None = None
    remote: RemoteWork | None = None
    paused: PauseCause | None = None
    epoch: int = 0


class RemoteStatusPart(Part, tag="remote_agent_status", frozen=True, kw_only=True):
    """The newest state of a remote agent's task for this turn, and the names of its artifacts."""

    agent_id: str
    remote_task_id: str
    task_state: RemoteTaskState
    message: Text = Text()
    artifacts: tuple[str, ...] = ()
