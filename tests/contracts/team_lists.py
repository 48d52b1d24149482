"""The product's names of the lists on teams in three specifications.

They are read from the rows and events of recorded teams.
"""

from __future__ import annotations

from typing import Any, get_args, get_type_hints

import msgspec

from callboard.adapters.http.openapi import build_openapi_document
from callboard.contracts.commands.base import COMMANDS
from callboard.contracts.entities.handoff_payload import Expectation, HandoffStatus, Payload
from callboard.contracts.entities.team import Ref, Role
from callboard.contracts.handoff_envelope import Envelope
from callboard.contracts.rows.action import ActionRow
from callboard.contracts.rows.agent import AgentRow, Connection
from callboard.contracts.rows.base import Row
from callboard.contracts.rows.exchange.handoff import HandoffRow
from callboard.contracts.rows.exchange.review import ReviewRow
from callboard.contracts.rows.message import TextPart
from callboard.contracts.rows.run import RunRow
from callboard.contracts.rows.subagent import NotificationRow
from callboard.contracts.rows.task import TaskRow
from callboard.contracts.rows.team import TeamRow
from callboard.contracts.rows.tool import ToolPart
from callboard.contracts.vocabulary import SUBAGENT_CONTROLS, SubagentStatus
from callboard.projection.emit.agentui.events import AgentUiEvent
from callboard.projection.emit.agentui.session_events import AgentUiEvents
from callboard.projection.emit.agentui_emission import Emission
from callboard.projection.emit.entities import TRANSLATIONS
from callboard.projection.emit.subagents import SubagentEvent
from callboard.projection.snapshot import SubagentSnapshot, build_task_snapshots, mark_stale
from tests.contracts.recorded_rows import filled_fields, recorded_rows
from tests.projection.session_builder import model_session
from tests.projection.team.scenarios import all_sessions
from tests.projection.team.worker_team import conformance_session

#: The team panel for each surface of the Subagents specification.
_SURFACES = {
    "ExecutionGraph": "edges",
    "TeamRoster": "agents",
    "WorkBoard": "tasks",
    "HandoffLane": "handoffs",
    "ReviewLane": "reviews",
    "TeammateTranscript": "messages",
}
#: The row fields for each name that the specifications describe in prose, nested ones after a dot.
_TEAM_FACTS: dict[str, tuple[type[Row], tuple[str, ...]]] = {
    "Teammate identity": (AgentRow, ("agent_id", "name", "role", "definition", "color", "model", "policy")),
    "Parent/child lineage": (AgentRow, ("parent_thread_id", "thread_id", "task_id", "spawn_reason")),
    "Worker notification": (NotificationRow, ("task_id", "agent_id", "status", "summary", "result", "usage")),
    "Teammate status": (AgentRow, ("state", "latest_turn_status", "queued_turns")),
    "Teammate transcript": (NotificationRow, ("transcript",)),
    "Work board item": (TaskRow, ("title", "assignee", "status", "blocker", "priority", "depends_on", "refs")),
    "Handoff": (HandoffRow, ("source", "target", "reason", "resume_target", "context_boundary", "accepted")),
    "Review verdict": (ReviewRow, ("reviewer", "target", "state", "refs", "fixes")),
    "Delegated approval": (ActionRow, ("action_id", "agent_name", "policy", "arguments", "parent_agent_id")),
    "Remote teammate": (
        AgentRow,
        (
            "remote.url",
            "remote.card",
            "remote.task_id",
            "remote.task_state",
            "remote.message",
            "remote.artifacts",
            "blocked_on",
        ),
    ),
    "Background teammate": (
        AgentRow,
        (
            "background.schedule",
            "background.wake_reason",
            "current_run",
            "background.last_run",
            "background.last_run_status",
        ),
    ),
}
_PERMISSIONS: dict[str, tuple[type[Row], str]] = {
    "Delegated approval source": (ActionRow, "agent_name"),
    "Per-teammate permission mode": (AgentRow, "permission_mode"),
}
_SIGNALS = {
    "provider session id": "provider_session_id",
    "last activity timestamps": "last_activity",
    "streaming status": "connection",
}
_INSPECTOR: dict[str, tuple[type[Row], str]] = {
    "incoming handoffs": (HandoffRow, "target"),
    "outgoing handoffs": (HandoffRow, "source"),
    "tool usage events": (ToolPart, "thread_id"),
    "artifacts list": (ToolPart, "changes"),
    "prompt artifacts": (RunRow, "prompts"),
    "streaming output": (TextPart, "state"),
}
#: The event fields of the required ids.
_ID_FIELDS = {"sourceId": "sourceId", "targetId": "targetId", "jobId": "taskId"}


def team_lists(emitted: list[Emission]) -> dict[str, frozenset[str]]:
    """Return the lists by their paths. `emitted` has every event that facts are emitted as."""
    events = _team_events()
    payload = frozenset(key for event in events for key in event.payload)
    rows = recorded_rows()
    has = filled_fields(rows)
    topologies = frozenset(("solo_run", *(row.topology for row in rows if isinstance(row, TeamRow))))
    facts = frozenset(name for name, (row, fields) in _TEAM_FACTS.items() if set(fields) <= has.get(row, set()))
    return {
        "agent_ui.task_items": _task_items(emitted, events, rows),
        "agent_ui.team_facts": facts,
        "agent_ui.team_fact_fields": facts,
        "agent_ui.more_fields": payload,
        "agent_ui.parallelism_fields": frozenset(
            key for event in events if event.type == "team.changed" for key in event.payload
        ),
        "agent_ui.topologies": topologies,
        "agent_ui.topology_projection": topologies,
        "agent_ui.entity_fields": frozenset(_entities(events)),
        "agent_ui.permission_facts": frozenset(
            name for name, (row, field) in _PERMISSIONS.items() if field in has.get(row, set())
        ),
        **_subagent_lists(rows),
        **_communication_lists(has),
    }


def _team_events() -> list[AgentUiEvent]:
    """Return the events of recorded teams, as a stateful edge emits them."""
    events: list[AgentUiEvent] = []
    for story in all_sessions():
        emit = AgentUiEvents()
        events += (event for record in story.records() for event in emit.apply(record))
    return events


#: The fields of each entity's events beside its ids: those of every event, and those of some.
_ENTITIES: dict[str, tuple[str, frozenset[str], frozenset[str]]] = {
    "Child subagent or teammate turn": (
        "subagent_turn",
        frozenset({"agentName", "teamName", "runtimeStatus", "latestTurnStatus"}),
        frozenset(),
    ),
    "Board work item": ("work_item", frozenset({"workItemId", "status"}), frozenset({"assignee", "blocker", "refs"})),
    "Durable automation job": (
        "automation_job",
        frozenset({"runtimeStatus", "status"}),
        frozenset({"schedule", "wakeReason", "lastRunRef"}),
    ),
    "Remote protocol task": (
        "external_task",
        frozenset({"agentCardRef"}),
        frozenset({"remoteTaskId", "runtimeStatus", "inputRequired", "authRequired"}),
    ),
}


def _entities(events: list[AgentUiEvent]) -> list[str]:
    names: list[str] = []
    for name, (entity, always, sometimes) in _ENTITIES.items():
        entity_events = [event for event in events if event.payload.get("runtimeEntity") == entity]
        filled = {key for event in entity_events for key, value in event.payload.items() if value}
        # A remote task is identified by its remote id.
        by_task = entity in ("work_item", "automation_job")
        ids = all(
            event.task_id if by_task and event.type == "task.changed" else event.agent_id for event in entity_events
        )
        if (
            entity_events
            and ids
            and sometimes <= filled
            and all(always <= set(event.payload) for event in entity_events)
        ):
            names.append(name)
    return names


def _task_items(emitted: list[Emission], events: list[AgentUiEvent], rows: list[Row]) -> frozenset[str]:
    def emitted_statuses(kind: str) -> set[str]:
        adds = [emission.adds for emission in emitted if emission.type == kind and "status" in emission.adds]
        return {str(add["status"]) for add in adds if add.get("runtimeEntity") in (None, "agent_turn", "work_item")}

    def event_statuses(entity: str) -> set[str]:
        return {str(event.payload.get("status")) for event in events if event.payload.get("runtimeEntity") == entity}

    queue_statuses = {str(event.payload["status"]) for event in events if event.type == "queue.changed"}
    items = {
        "Queued turn": emitted_statuses("queue.changed") | queue_statuses,
        "Work item": emitted_statuses("task.changed"),
        "Human/agent board": emitted_statuses("task.changed"),
        "Coordinator team": emitted_statuses("team.changed"),
        "Background job": event_statuses("automation_job"),
        "Remote teammate task": event_statuses("external_task"),
        "Teammate/subagent": {row.state for row in rows if isinstance(row, AgentRow)},
        "Specialist handoff": {row.state for row in rows if isinstance(row, HandoffRow)},
        "Review teammate": {row.state for row in rows if isinstance(row, ReviewRow)},
    }
    return frozenset(f"{name}: {status}" for name, statuses in items.items() for status in statuses)


def _degraded_states(rows: list[Row]) -> frozenset[str]:
    """Return the degraded states of agents, of snapshots and of a session without a team."""
    states = {state for row in rows if isinstance(row, AgentRow) for state in row.degraded}
    snapshots = build_task_snapshots(conformance_session().records())
    if {snapshot.state for snapshot in mark_stale(snapshots, snapshots[0].through + 1)} == {"stale"}:
        states.add("snapshot_stale")
    topologies = [
        event.topology
        for record in model_session().records()
        for event in AgentUiEvents().apply(record)
        if event.topology
    ]
    if topologies == ["solo_run"] and not model_session().table.list_rows(TeamRow):
        states.add("solo_run")
    return frozenset(states)


def _subagent_lists(recorded: list[Row]) -> dict[str, frozenset[str]]:
    rows = conformance_session().table.group_rows()
    types = {kind for translation in TRANSLATIONS.values() for kind in translation.subagents}
    fields = {field.encode_name for field in msgspec.structs.fields(SubagentEvent)}
    snapshot = msgspec.structs.fields(SubagentSnapshot)
    return {
        "subagents.events": frozenset(types),
        "subagents.required_ids": frozenset(
            f"{family}.*"
            for family, ids in {
                "task": ("sessionId", "taskId"),
                "subagent": ("taskId", "subagentId", "parentTaskId", "parentRunId"),
                "worker": ("workerId", "taskId", "subagentId", "jobId"),
                "channel": ("channelId", "participants", "taskId", "runId"),
                "handoff": ("handoffId", "sourceId", "targetId"),
                "review": ("reviewId", "refs", "taskId"),
            }.items()
            if {_ID_FIELDS.get(id_, id_) for id_ in ids} <= fields
        ),
        "subagents.snapshot_fields": frozenset(field.encode_name for field in snapshot),
        "subagents.snapshot_optional": frozenset(
            field.encode_name for field in snapshot if field.default is msgspec.UNSET
        ),
        "subagents.roles": frozenset(get_args(Role)),
        "subagents.statuses": frozenset(get_args(SubagentStatus)),
        "subagents.surfaces": frozenset(name for name, panel in _SURFACES.items() if panel in rows),
        "subagents.degraded_states": _degraded_states(recorded),
        "subagents.control_commands": frozenset(
            name for name, command in SUBAGENT_CONTROLS.items() if command in COMMANDS
        ),
        "subagents.conformance_fixture": frozenset(_fixture_steps(types)),
    }


def _fixture_steps(types: set[Any]) -> list[str]:
    """Return the steps of the fixture that have an event, in the spelling of the specification."""
    steps = {
        "task.created": "(parent)",
        "subagent.started": "(child)",
        "channel.opened": "(parent -> child)",
        "tool.started": "(child)",
        "tool.result": "(child)",
        "artifact.changed": "(child)",
        "handoff.requested": "(child -> parent)",
        "review.verdict": "(parent)",
        "subagent.completed": "(child)",
        "task.completed": "(parent)",
        "snapshot.updated": "",
    }
    return [f"{kind}{who}" for kind, who in steps.items() if kind in types]


def _communication_lists(has: dict[type[Row], set[str]]) -> dict[str, frozenset[str]]:
    envelope = _names(Envelope, "")
    payload = frozenset(
        (
            *_names(Payload, ""),
            *_names(Ref, "artifacts[]."),
            *_names(HandoffStatus, "status."),
            *_names(Expectation, "response."),
        )
    )
    within = frozenset(f"payload.{name}" for name in _names(Payload, ""))
    paths: dict[str, Any] = build_openapi_document()["paths"]
    routes = {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}
    return {
        "communication.envelope_required": envelope | within,
        "communication.envelope_optional": envelope | within,
        "communication.payload_fields": payload,
        "communication.kind": frozenset(get_args(get_type_hints(Envelope)["kind"])),
        "communication.connection_states": frozenset(get_args(Connection)),
        "communication.signals": frozenset(
            name for name, field in _SIGNALS.items() if field in has.get(AgentRow, set())
        ),
        "communication.inspector": frozenset(
            name for name, (row, field) in _INSPECTOR.items() if field in has.get(row, set())
        ),
        "communication.routes": frozenset(
            route.replace("{session}", "{id}").replace("{agent}", "{nodeId}") for route in routes
        ),
    }


def _names(kind: type[msgspec.Struct], before: str) -> frozenset[str]:
    return frozenset(f"{before}{field.encode_name}" for field in msgspec.structs.fields(kind))
