"""What the product has of the lists of the Subagents and the Communication specifications, and of Agent UI's lists of teams,
found in the product itself: in the rows and events that a told team leaves."""

from __future__ import annotations

from typing import Any, get_args, get_type_hints

import msgspec

from callboard.adapters.http.openapi import document
from callboard.contracts.commands import COMMANDS
from callboard.contracts.envelope import Envelope
from callboard.contracts.facts import HandoffAccepted, TeamChanged, ThreadOpened
from callboard.contracts.facts.thread import AgentKind
from callboard.contracts.payload import Expectation, HandoffStatus, Payload
from callboard.contracts.rows import (
    ActionRow,
    AgentRow,
    HandoffRow,
    NotificationRow,
    ReviewRow,
    Row,
    RunRow,
    TaskRow,
    TeamRow,
    TextPart,
    ToolPart,
)
from callboard.contracts.rows.team import AgentState, Connection, Degraded, HandoffState, ReviewState
from callboard.contracts.scope import Scope
from callboard.contracts.team import Ref, Role
from callboard.contracts.vocabulary import SUBAGENT_CONTROLS, SubagentStatus
from callboard.projection.emit.agentui import AgentUiEvent, agent_ui_events
from callboard.projection.emit.emission import Emission
from callboard.projection.emit.subagents import EVENTS, SubagentEvent
from callboard.projection.snapshot import SubagentSnapshot
from tests.projection.story import THREAD, Story
from tests.projection.team.troupe import conforming, handed, records_of, team

#: Which panel of a team is which surface of the Subagents specification.
_SURFACES = {
    "ExecutionGraph": "edges",
    "TeamRoster": "agents",
    "WorkBoard": "tasks",
    "HandoffLane": "handoffs",
    "ReviewLane": "reviews",
    "TeammateTranscript": "messages",
}
#: The fields that say what the specifications ask for by words.
_TEAM_FACTS: dict[str, tuple[type[Row], tuple[str, ...]]] = {
    "Parent/child lineage": (AgentRow, ("parent_thread_id", "thread_id", "task_id", "spawn_reason")),
    "Worker notification": (NotificationRow, ("task_id", "agent_id", "status", "summary", "result", "usage")),
    "Teammate status": (AgentRow, ("state", "latest_turn_status", "queued_turns")),
    "Teammate transcript": (NotificationRow, ("transcript",)),
    "Work board item": (TaskRow, ("title", "assignee", "status", "blocker", "priority", "depends_on", "refs")),
    "Handoff": (HandoffRow, ("source", "target", "reason", "resume_target", "context_boundary", "accepted")),
    "Review verdict": (ReviewRow, ("reviewer", "target", "state", "refs", "fixes")),
    "Delegated approval": (ActionRow, ("action_id", "agent_name", "policy", "arguments", "parent_agent_id")),
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
#: Which fields of an event the required ids are.
_ID_FIELDS = {"sourceId": "sourceId", "targetId": "targetId", "jobId": "taskId"}


def of_teams(emitted: list[Emission]) -> dict[str, frozenset[str]]:
    """The lists by their paths; `emitted` is everything that facts are told as."""
    told = _told()
    payload = frozenset(key for event in told for key in event.payload)
    topologies = _topologies()
    facts = frozenset(name for name, (row, fields) in _TEAM_FACTS.items() if set(fields) <= set(row.__struct_fields__))
    return {
        "agent_ui.task_items": _task_items(emitted),
        "agent_ui.team_facts": facts,
        "agent_ui.team_fact_fields": facts,
        "agent_ui.more_fields": payload,
        "agent_ui.parallelism_fields": frozenset(
            key for event in told if event.type == "team.changed" for key in event.payload
        ),
        "agent_ui.topologies": topologies,
        "agent_ui.topology_projection": topologies,
        "agent_ui.entity_fields": frozenset(_entities(told)),
        "agent_ui.permission_facts": frozenset(
            name for name, (row, field) in _PERMISSIONS.items() if field in row.__struct_fields__
        ),
        **_subagents(),
        **_communication(),
    }


def _told() -> list[AgentUiEvent]:
    """A team's events, as an edge tells them that knows its row."""
    story = conforming()
    rows = story.table.panel(TeamRow)
    return [event for record in records_of(story) for event in agent_ui_events(record, rows[0])]


def _entities(told: list[AgentUiEvent]) -> list[str]:
    child = [event for event in told if event.payload.get("runtimeEntity") == "subagent_turn"]
    work = [event for event in told if event.payload.get("runtimeEntity") == "work_item"]
    wanted = {"agentName", "teamName", "runtimeStatus", "latestTurnStatus"}
    children = child and all(
        wanted <= set(event.payload) and event.agent_id and event.parent_session_id for event in child
    )
    return [
        *(["Child subagent or teammate turn"] if children else []),
        *(["Board work item"] if work and all({"workItemId", "status"} <= set(one.payload) for one in work) else []),
    ]


def _task_items(emitted: list[Emission]) -> frozenset[str]:
    def said(kind: str) -> set[str]:
        return {str(one.adds["status"]) for one in emitted if one.type == kind and "status" in one.adds}

    items = {
        "Queued turn": said("queue.changed"),
        "Work item": said("task.changed"),
        "Human/agent board": said("task.changed"),
        "Coordinator team": said("team.changed"),
        "Teammate/subagent": {*said("agent.changed"), *get_args(AgentState)},
        "Specialist handoff": set(get_args(HandoffState)),
        "Review teammate": set(get_args(ReviewState)),
    }
    return frozenset(f"{name}: {status}" for name, statuses in items.items() for status in statuses)


def _topologies() -> frozenset[str]:
    """How the work of teams is organised that facts show, one for each."""

    def joined(kind: AgentKind) -> Story:
        opened = ThreadOpened(agent_name="b", kind=kind, definition="b", definition_hash="h")
        return team().say(opened, Scope(agent="b", thread="thr_b"))

    fact, scope = handed()
    moved = msgspec.structs.replace(fact, ownership=True)
    several = TeamChanged(phase="active", parallel_budget=8, active_count=2, queued_count=0)
    stories = (
        team(),
        conforming(),
        team().say(several, THREAD),
        team().say(moved, scope).say(HandoffAccepted(source="writer-1", target="solo", ownership=True), scope),
        *(joined(kind) for kind in ("remote", "background", "human")),
    )
    return frozenset(("solo_run", *(row.topology for story in stories for row in story.table.panel(TeamRow))))


def _subagents() -> dict[str, frozenset[str]]:
    rows = conforming().table.rows()
    types = {kind for kinds in EVENTS.values() for kind in kinds}
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
            if {_ID_FIELDS.get(one, one) for one in ids} <= fields
        ),
        "subagents.snapshot_fields": frozenset(field.encode_name for field in snapshot),
        "subagents.snapshot_optional": frozenset(
            field.encode_name for field in snapshot if field.default is msgspec.UNSET
        ),
        "subagents.roles": frozenset(get_args(Role)),
        "subagents.statuses": frozenset(get_args(SubagentStatus)),
        "subagents.surfaces": frozenset(name for name, panel in _SURFACES.items() if panel in rows),
        "subagents.degraded_states": frozenset(get_args(Degraded)),
        "subagents.control_commands": frozenset(
            name for name, command in SUBAGENT_CONTROLS.items() if command in COMMANDS
        ),
        "subagents.conformance_fixture": frozenset(_fixture(types)),
    }


def _fixture(types: set[Any]) -> list[str]:
    """The steps of the fixture whose event there is, as the specification writes them."""
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


def _communication() -> dict[str, frozenset[str]]:
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
    paths: dict[str, Any] = document("callboard_1")["paths"]
    routes = {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}
    return {
        "communication.envelope_required": envelope | within,
        "communication.envelope_optional": envelope | within,
        "communication.payload_fields": payload,
        "communication.kind": frozenset(get_args(get_type_hints(Envelope)["kind"])),
        "communication.connection_states": frozenset(get_args(Connection)),
        "communication.signals": frozenset(
            name for name, field in _SIGNALS.items() if field in AgentRow.__struct_fields__
        ),
        "communication.inspector": frozenset(
            name for name, (row, field) in _INSPECTOR.items() if field in row.__struct_fields__
        ),
        "communication.routes": frozenset(
            route.replace("{session}", "{id}").replace("{agent}", "{nodeId}") for route in routes
        ),
    }


def _names(kind: type[msgspec.Struct], before: str) -> frozenset[str]:
    return frozenset(f"{before}{field.encode_name}" for field in msgspec.structs.fields(kind))
