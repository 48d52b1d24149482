"""Message parts of events: kind, owner and surface (Agent UI specification, Message part taxonomy)."""

from __future__ import annotations

from callboard.contracts.vocabulary import EventClass, MessagePart, Owner, Surface

from ..agentui_emission import ACTION_OWNERS, Emission

_BY_CLASS: dict[EventClass, MessagePart] = {
    "text.delta": "assistant_text",
    "text.final": "assistant_text",
    "reasoning.delta": "reasoning_summary",
    "reasoning.summary": "reasoning_summary",
    "plan.delta": "plan",
    "plan.final": "plan",
    "run.started": "runtime_status",
    "run.status": "runtime_status",
    "run.finished": "runtime_status",
    "run.failed": "error",
    "tool.args": "tool_call",
    "tool.started": "tool_call",
    "tool.progress": "tool_call",
    "tool.output.delta": "tool_result",
    "tool.result": "tool_result",
    "tool.failed": "error",
    "action.required": "action_required",
    "artifact.created": "artifact_ref",
    "artifact.updated": "artifact_ref",
    "artifact.version.created": "artifact_ref",
    "artifact.preview.ready": "artifact_ref",
    "artifact.failed": "artifact_ref",
    "artifact.deleted": "artifact_ref",
    "artifact.diff.ready": "file_change",
    "evidence.changed": "evidence_ref",
    "context.changed": "context_event",
    "context.compaction.started": "context_event",
    "context.compaction.completed": "context_event",
    "agent.handoff": "agent_handoff",
    "worker.notification": "worker_notification",
    "diagnostic.changed": "diagnostic",
}
#: The surface decides the part of these classes.
_TEAM_CLASSES: frozenset[EventClass] = frozenset(
    {"agent.changed", "agent.spawned", "agent.completed", "task.changed", "team.changed"}
)
_BY_SURFACE: dict[Surface, MessagePart] = {
    "team_roster": "agent_roster",
    "handoff_lane": "agent_handoff",
    "remote_teammate": "remote_agent_status",
    "task_capsule": "agent_task",
    "work_board": "agent_task",
}
_MODEL_OWNERS: frozenset[Owner] = frozenset({"model", "runtime"})
_WORK_OWNERS: frozenset[Owner] = frozenset({"agent", "task"})

#: The owners and surfaces of each kind of part.
PLACES: dict[MessagePart, tuple[frozenset[Owner], frozenset[Surface]]] = {
    "assistant_text": (_MODEL_OWNERS, frozenset({"conversation"})),
    "reasoning_summary": (_MODEL_OWNERS, frozenset({"inline_process"})),
    "plan": (_MODEL_OWNERS, frozenset({"inline_process", "hitl"})),
    "runtime_status": (frozenset({"runtime"}), frozenset({"runtime_status"})),
    "error": (frozenset({"runtime", "tool", "task"}), frozenset({"runtime_status", "tool_ui", "task_capsule"})),
    "tool_call": (frozenset({"model", "tool"}), frozenset({"tool_ui"})),
    "tool_result": (frozenset({"tool"}), frozenset({"tool_ui"})),
    "action_required": (frozenset({*ACTION_OWNERS.values()}), frozenset({"hitl"})),
    "artifact_ref": (frozenset({"artifact"}), frozenset({"artifact_workspace"})),
    "file_change": (frozenset({"artifact", "tool"}), frozenset({"artifact_workspace", "timeline_evidence"})),
    "evidence_ref": (frozenset({"evidence"}), frozenset({"timeline_evidence"})),
    "context_event": (frozenset({"context"}), frozenset({"inline_process", "diagnostics"})),
    "agent_task": (frozenset({"task"}), frozenset({"task_capsule", "work_board"})),
    "agent_roster": (frozenset({"agent"}), frozenset({"team_roster"})),
    "agent_handoff": (frozenset({"agent"}), frozenset({"handoff_lane", "delegation_graph"})),
    "worker_notification": (_WORK_OWNERS, frozenset({"worker_notifications", "timeline_evidence"})),
    "remote_agent_status": (_WORK_OWNERS, frozenset({"remote_teammate"})),
    "diagnostic": (frozenset({"diagnostics"}), frozenset({"diagnostics"})),
}


def find_part_type(emission: Emission) -> MessagePart | None:
    """Return the kind of message part; None for other events, such as a queue, a permission or a metric."""
    if emission.adds.get("toolState") == "cancelled":  # of class `tool.failed`, but not an error
        return "tool_call"
    by_surface = emission.type in _TEAM_CLASSES
    part = _BY_SURFACE.get(emission.surface) if by_surface else _BY_CLASS.get(emission.type)
    if part is None:
        return None
    owners, surfaces = PLACES[part]
    return part if emission.owner in owners and emission.surface in surfaces else None
