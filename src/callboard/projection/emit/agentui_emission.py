"""Agent UI events of a fact, as data before their envelope."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from callboard.contracts.facts.action import ActionType
from callboard.contracts.facts.base import Fact
from callboard.contracts.live import FrameKind
from callboard.contracts.rows.status import RuntimeStatus
from callboard.contracts.vocabulary import Control, EventClass, EventScope, Owner, Persistence, Phase, Surface


class Emission(msgspec.Struct, frozen=True, gc=False):
    """One event of a fact.

    `adds` extends the payload, which holds the fact's fields. `action` replaces the action id of the fact's scope.
    """

    type: EventClass
    owner: Owner
    scope: EventScope
    phase: Phase
    surface: Surface
    persistence: Persistence
    control: Control | None = None
    adds: dict[str, Any] = {}
    action: str = ""


Emissions = tuple[Emission, ...]
#: The events of a type of fact, or a function of the fact where they depend on its content.
AgentUiTranslation = Emissions | Callable[[Fact], Emissions]
#: Other facts produce the events.
EMITTED_BY_OTHERS: Emissions = ()
#: The owner of each type of action (Agent UI specification, Human-in-the-loop taxonomy).
ACTION_OWNERS: dict[ActionType, Owner] = {
    "tool_approval": "policy",
    "plan_decision": "runtime",
    "teammate_plan_decision": "agent",
    "structured_input": "action",
    "clarification": "runtime",
    "permission_grant": "policy",
    "delegated_permission": "policy",
    "credential_request": "policy",
    "artifact_review": "artifact",
}
#: The event after all stored facts of a session. It has no fact.
HYDRATED = Emission("session.hydrated", "session", "session", "hydrating", "session_tabs", "snapshot")
#: The events of live frames, by kind.
DELTAS: dict[FrameKind, Emission] = {
    "text": Emission("text.delta", "model", "part", "producing", "conversation", "ephemeral_live"),
    "reasoning": Emission("reasoning.delta", "model", "part", "reasoning", "inline_process", "ephemeral_live"),
    "arguments": Emission(
        "tool.args", "model", "tool_call", "acting", "tool_ui", "ephemeral_live", None, {"toolState": "input-streaming"}
    ),
    "output": Emission(
        "tool.output.delta", "tool", "tool_call", "acting", "tool_ui", "ephemeral_live", None, {"toolState": "progress"}
    ),
    "progress": Emission(
        "tool.progress", "tool", "tool_call", "acting", "tool_ui", "ephemeral_live", None, {"toolState": "progress"}
    ),
}


def emit_run(
    kind: EventClass, phase: Phase, status: RuntimeStatus, *, scope: EventScope = "run", control: Control | None = None
) -> Emissions:
    """Emit a step of a foreground turn (Agent UI specification, Runtime execution alignment)."""
    adds = {"runtimeEntity": "agent_turn", "runtimeStatus": status}
    return (Emission(kind, "runtime", scope, phase, "runtime_status", "snapshot", control, adds),)


def emit_queue(status: str, control: Control | None = None) -> Emissions:
    """Emit a change of a queued turn."""
    adds = {"runtimeEntity": "agent_turn", "status": status}
    return (Emission("queue.changed", "runtime", "task", "waiting", "task_capsule", "snapshot", control, adds),)


def emit_permission(scope: EventScope) -> Emissions:
    """Emit a change of permissions."""
    return (Emission("permission.changed", "policy", scope, "acting", "tool_ui", "archive"),)


def emit_context(surface: Surface) -> Emissions:
    """Emit the preparation of a run's context."""
    return (Emission("context.changed", "context", "run", "preparing", surface, "archive"),)


def emit_session(kind: EventClass, phase: Phase, scope: EventScope = "session") -> Emissions:
    """Emit a change of a session's tab."""
    return (Emission(kind, "session", scope, phase, "session_tabs", "snapshot"),)


def emit_diagnostic(phase: Phase) -> Emissions:
    """Emit a line of the diagnostics log."""
    return (Emission("diagnostic.changed", "diagnostics", "run", phase, "diagnostics", "diagnostics_log"),)


def emit_metric(scope: EventScope = "run") -> Emissions:
    """Emit a figure of the diagnostics log."""
    return (Emission("metric.changed", "diagnostics", scope, "acting", "diagnostics", "diagnostics_log"),)


def emit_agent(
    kind: EventClass,
    phase: Phase,
    status: str,
    surface: Surface = "team_roster",
    control: Control | None = None,
    **adds: str,
) -> Emissions:
    """Emit a step of a child agent (Agent UI specification, Child subagent or teammate turn)."""
    runtime, latest = _AGENT_STATUS[status]
    state = {"runtimeEntity": "subagent_turn", "status": status, "runtimeStatus": runtime, "latestTurnStatus": latest}
    return (Emission(kind, "agent", "agent", phase, surface, "snapshot", control, {**state, **adds}),)


#: The runtime status and the newest turn's status, by the agent's state.
_AGENT_STATUS: dict[str, tuple[RuntimeStatus, str]] = {
    "spawning": ("accepted", "submitted"),
    "waiting": ("blocked", "waiting"),
    "running": ("streaming", "running"),
    "needs_input": ("blocked", "waiting"),
    "plan_ready": ("blocked", "waiting"),
    "idle": ("idle", "completed"),
    "completed": ("done", "completed"),
    "failed": ("failed", "failed"),
    "killed": ("done", "cancelled"),
    "closed": ("done", "closed"),
}


def emit_task(phase: Phase, status: str, control: Control | None = None) -> Emissions:
    """Emit a step of a work item. `AgentUiEvents` replaces the entity of jobs and remote tasks."""
    adds = {"runtimeEntity": "work_item", "status": status}
    return (Emission("task.changed", "task", "task", phase, "work_board", "snapshot", control, adds),)
