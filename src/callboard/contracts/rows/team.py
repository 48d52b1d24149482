"""Rows of a team and of the edges between its agents. The panels of a session with one agent are empty."""

from __future__ import annotations

from typing import ClassVar, Literal

from ..entities.team import (
    EdgeDirection,
    EdgeKind,
    QueueReason,
    TeamPhase,
)
from .base import Row

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


#: Panels of a team, in loading order.
TEAM_PANELS = ("team", "agents", "tasks", "edges", "notifications", "handoffs", "reviews", "messages", "runs")
