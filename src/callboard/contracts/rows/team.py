"""Rows of a team: agents, edges, tasks, handoffs, messages, reviews and runs.

The panels of a session with one agent are empty.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import msgspec

from ..content import Text
from ..entities.handoff_payload import Payload
from ..entities.team import (
    BackgroundState,
    EdgeDirection,
    EdgeKind,
    Isolation,
    Policy,
    QueueReason,
    Ref,
    RemoteTaskState,
    Role,
    TaskEntity,
    TaskStatus,
    TeamPhase,
    WorkUsage,
)
from ..facts.agent import RemotePart, WakeReason
from ..facts.session import AgentKind, PauseCause
from ..facts.subagent import NotificationStatus
from ..facts.task import Priority, ReviewFix
from ..facts.turn import PromptRef
from .base import Row
from .conversation import StatusDetail

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
#: Organisation of the work (Agent UI specification, Team topology taxonomy).
Topology = Literal[
    "solo_run",
    "coordinator_team",
    "parallel_workers",
    "specialist_handoff",
    "review_team",
    "human_agent_board",
    "background_teammate",
    "remote_teammate",
]
#: What a view of a team lacks (Subagents specification, degraded states).
Degraded = Literal["solo_run", "lineage_unavailable", "remote_unavailable", "snapshot_stale", "permission_blocked"]
HandoffState = Literal[
    "handoff_requested", "accepted", "active", "rejected", "returned", "resumed", "completed", "unknown"
]
ReviewState = Literal["requested", "reviewing", "passed", "changes_requested", "failed", "applied", "unknown"]
#: Status of a run as the Multi-agent runtime specification records it.
RunStatus = Literal["running", "completed", "failed", "cancelled"]


class TeamRow(Row, tag="team", frozen=True, kw_only=True):
    """The team of a session: one row once there is a second agent.

    `owner` receives the person's input. `synthesis_turn` is the lead's turn that combines the
    results. Counts are of children.
    """

    panel: ClassVar[str] = "team"
    name: str
    lead: str
    owner: str
    topology: Topology
    team_phase: TeamPhase | None = None
    team_parallel_budget: int = 0
    team_active_count: int = 0
    team_queued_count: int = 0
    provider_concurrency_group: str = ""
    provider_parallel_budget: int = 0
    queue_reason: QueueReason | None = None
    retryable_overload: bool = False
    degraded: tuple[Degraded, ...] = ()
    synthesis_turn: str = ""


class BackgroundWork(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
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


class DeliveredArtifact(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """An artifact of a remote agent for its task `task_id`. `left_out` counts the parts beyond the limit."""

    artifact_id: str
    task_id: str = ""
    name: str = ""
    description: str = ""
    parts: tuple[RemotePart, ...] = ()
    left_out: int = 0
    at: int = 0


class RemoteWork(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
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


class EdgeRow(Row, tag="edge", frozen=True, kw_only=True):
    """A line of the graph: from a parent to its child, an allowed path, an open handoff, or a wait.

    The key is `type:source>target`.
    """

    panel: ClassVar[str] = "edges"
    edge_type: Literal["child", "path", "handoff", "wait", "depends"]
    source: str
    target: str
    direction: EdgeDirection = "to"
    edge_kind: EdgeKind | None = None
    confirm: bool = False
    ownership: bool = False


class Comment(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A comment on a task. `by` is an agent, empty for a person."""

    at: int
    by: str
    text: str


class AttemptRow(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """An attempt of a task.

    `number` counts from 1. Times are in microseconds since the epoch. `run_id` is its newest run,
    empty for none.
    """

    run_id: str
    status: RunStatus
    detail: str = ""
    number: int = 0
    agent_id: str = ""
    started: int = 0
    ended: int = 0


class JobItems(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Number of a job's items by state. Paused items are `waiting`; items that wait for a person are `running`."""

    waiting: int = 0
    running: int = 0
    failed: int = 0
    completed: int = 0
    cancelled: int = 0


class TaskRow(Row, tag="task", frozen=True, kw_only=True):
    """A card of the board; the key is the task's id.

    It has the newest fifty comments and the newest twenty attempts. A `paused` task shows as
    blocked; a `cancelling` one is being stopped. `phase` and `counters` are the newest reports.
    `job` is the job that it is an item of, or the task of; then `items` counts its items.
    `plain_text`: its newest result was not finalized.
    """

    panel: ClassVar[str] = "tasks"
    title: str
    status: TaskStatus
    objective: Text = Text()
    assignee: str = ""
    parent_task: str = ""
    depends_on: tuple[str, ...] = ()
    priority: Priority = "normal"
    acceptance: str = ""
    blocker: str = ""
    progress: str = ""
    summary: str = ""
    plain_text: bool = False
    comments: tuple[Comment, ...] = ()
    attempts: tuple[AttemptRow, ...] = ()
    refs: tuple[Ref, ...] = ()
    entity: TaskEntity = "work_item"
    paused: bool = False
    cancelling: bool = False
    phase: str = ""
    counters: dict[str, int] = msgspec.field(default_factory=dict[str, int])
    job: str = ""
    items: JobItems | None = None
    created: int = 0
    ended: int = 0


class HandoffRow(Row, tag="handoff", frozen=True, kw_only=True):
    """An entry of the handoff lane; the key is the handoff's id.

    Times are in microseconds since the epoch. `artifacts` maps artifact refs to artifacts of the
    session; `unresolved` are the others.
    """

    panel: ClassVar[str] = "handoffs"
    source: str
    target: str
    edge: EdgeKind
    state: HandoffState
    payload: Payload
    artifacts: dict[str, str] | None = None
    unresolved: tuple[str, ...] = ()
    context_ref: str = ""
    meta: dict[str, Any] | None = None
    reason: str = ""
    answer_reason: str = ""
    confirm: bool = False
    ownership: bool = False
    resume_target: str = ""
    context_boundary: int = 0
    requested: int = 0
    accepted: int = 0
    ended: int = 0
    reply_by: int = 0
    reply: Literal["", "awaited", "answered", "expired", "unknown"] = ""


class NotificationRow(Row, tag="notification", frozen=True, kw_only=True):
    """A child's result for its parent; the key is the event's id. `consumed`: a turn of the parent received it."""

    panel: ClassVar[str] = "notifications"
    agent_id: str
    parent_agent_id: str
    task_id: str
    status: NotificationStatus
    summary: str
    result: Text = Text()
    transcript: str = ""
    usage: WorkUsage = WorkUsage()
    at: int = 0
    consumed: bool = False
    plain_text: bool = False


class ReviewRow(Row, tag="review", frozen=True, kw_only=True):
    """An entry of the review lane; the key is the review's id."""

    panel: ClassVar[str] = "reviews"
    reviewer: str
    target: str
    task_id: str
    state: ReviewState
    instructions: Text = Text()
    summary: str = ""
    refs: tuple[Ref, ...] = ()
    fixes: tuple[ReviewFix, ...] = ()
    assigned_to: str = ""
    requested: int = 0
    judged: int = 0


class MessageRow(Row, tag="message", frozen=True, kw_only=True):
    """A message between agents; the key is its item. The panel has the newest two hundred."""

    panel: ClassVar[str] = "messages"
    channel_id: str
    source: str
    participants: tuple[str, ...]
    text: Text
    at: int = 0


class RunRow(Row, tag="run", frozen=True, kw_only=True):
    """A run (Multi-agent runtime specification, Run model); the key is its id.

    `detail` is a code or a cause. `prompts` are the layers of its prompt, as blobs.

    A running status is valid while `epoch` is alive; afterwards readers show it as failed, `lost`.
    """

    panel: ClassVar[str] = "runs"
    agent_id: str
    agent_kind: AgentKind
    thread_id: str
    turn_id: str
    status: RunStatus
    parent_run_id: str = ""
    task_id: str = ""
    detail: str = ""
    started: int = 0
    ended: int = 0
    usage: WorkUsage = WorkUsage()
    prompts: tuple[PromptRef, ...] = ()
    epoch: int = 0


#: Panels of a team, in loading order.
TEAM_PANELS = ("team", "agents", "tasks", "edges", "notifications", "handoffs", "reviews", "messages", "runs")
TeamAnyRow = TeamRow | AgentRow | EdgeRow | TaskRow | HandoffRow | NotificationRow | ReviewRow | MessageRow | RunRow
