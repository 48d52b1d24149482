"""State of a team: its load, the edges that agents added, and links to external agents."""

from __future__ import annotations

import msgspec

from callboard.contracts.entities.team import (
    Edge,
    QueueReason,
    RemoteTaskState,
    TeamPhase,
)


class TeamLoad(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The load of a lead's team as recorded last."""

    phase: TeamPhase
    active: int
    queued: int
    group: str = ""
    queue_reason: QueueReason | None = None


class ExternalLink(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The conversation of an external or remote agent for a thread, by its own id. `task` is a
    remote agent's open task, `task_state` its newest state."""

    provider_session: str
    connected: bool
    task: str = ""
    task_state: RemoteTaskState | None = None


class AddedEdge(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An edge that an agent added for this session, from the agent `source`."""

    source: str
    edge: Edge
