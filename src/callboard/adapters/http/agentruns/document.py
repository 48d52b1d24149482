"""OpenAPI paths of the Multi-agent runtime specification."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from callboard.contracts.rows.run import AgentRunRecord
from callboard.contracts.rows.settings import EffectiveSettings

from .contexts import RunSummary
from .queries import (
    Accepted,
    CancelBody,
    ChatBody,
    ChildrenQuery,
    ContextQuery,
    EventsQuery,
    InterruptBody,
    RunsQuery,
    SettingsBody,
    SettingsQuery,
    TreeQuery,
)
from .tree import Tree

Json = dict[str, Any]
_SESSION: Json = {"name": "session", "in": "path", "required": True, "schema": {"type": "string"}}
_AGENT: Json = {"name": "agent", "in": "path", "required": True, "schema": {"type": "string"}}
_TAG = "agent-runs"


def list_agent_run_structs() -> list[type[msgspec.Struct]]:
    """Return the Structs whose schemas the document needs."""
    return [
        RunsQuery,
        ChildrenQuery,
        ContextQuery,
        EventsQuery,
        SettingsQuery,
        TreeQuery,
        CancelBody,
        ChatBody,
        SettingsBody,
        InterruptBody,
        AgentRunRecord,
        RunSummary,
        EffectiveSettings,
        Accepted,
        Tree,
    ]


def build_agent_run_paths(
    operation: Callable[..., Json], parameters: Callable[[str], list[Json]], headers: tuple[Json, Json]
) -> Json:
    """Return the paths.

    Args:
        operation: Builds an operation, as for every other route.
        parameters: Returns the query parameters of a Struct by its name.
        headers: The parameters of the idempotency key and of Last-Event-ID.
    """
    key, last_event_id = headers

    def get(name: str, summary: str, answer: Json, query: str, *more: Json) -> Json:
        return {"get": operation(name, summary, answer, tag=_TAG, parameters=[*parameters(query), *more])}

    def build_post(name: str, summary: str, answer: Json, body: str, *more: Json, required: bool = True) -> Json:
        request = {"required": required, "content": _build_content({"$ref": f"#/components/schemas/{body}"})}
        return {"post": operation(name, summary, answer, tag=_TAG, parameters=[key, *more], requestBody=request)}

    runs: Json = {"type": "array", "items": {"$ref": "#/components/schemas/AgentRunRecord"}}
    stream = {
        "description": "Events of nine kinds, each in an envelope with its `seq`.",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    }
    settings = _build_answer({"$ref": "#/components/schemas/EffectiveSettings"})
    raw = {"type": "object", "properties": {"view": {"const": "raw"}}}
    context = _build_answer({"anyOf": [{"$ref": "#/components/schemas/RunSummary"}, raw]})
    return {
        "/api/agent-runs": get(
            "agent_runs", "List the runs of a session or folder.", _build_answer(_build_object(runs=runs)), "RunsQuery"
        ),
        "/api/agent-children": get(
            "agent_children",
            "List the child runs of a run.",
            _build_answer(_build_object(children=runs)),
            "ChildrenQuery",
        ),
        "/api/agent-context": get(
            "agent_context", "Read the messages, tool calls and changes of a run.", context, "ContextQuery"
        ),
        "/api/agent-cancel": build_post(
            "agent_cancel",
            "Cancel a run and all runs that work for it.",
            _build_answer(_build_object(run=runs["items"])),
            "CancelBody",
        ),
        "/api/chat": build_post(
            "chat",
            "Send a message to an agent. The message is queued if the agent is busy.",
            _build_answer({"$ref": "#/components/schemas/Accepted"}),
            "ChatBody",
        ),
        "/api/events": get(
            "events", "Stream all events of a folder in one order.", stream, "EventsQuery", last_event_id
        ),
        "/api/settings": {
            **get("settings", "Read the effective settings of a folder.", settings, "SettingsQuery"),
            **build_post(
                "change_settings", "Refuse a change of settings, and name where to make it.", settings, "SettingsBody"
            ),
        },
        "/api/workspace/tree": get(
            "workspace_tree",
            "List the files of a folder.",
            _build_answer({"$ref": "#/components/schemas/Tree"}),
            "TreeQuery",
        ),
        "/api/runs/{session}/nodes/{agent}/interrupt": build_post(
            "interrupt_node",
            "Interrupt the running turn of an agent.",
            _build_answer({"type": "object"}),
            "InterruptBody",
            _SESSION,
            _AGENT,
            required=False,
        ),
    }


def _build_content(schema: Json) -> Json:
    return {"application/json": {"schema": schema}}


def _build_answer(schema: Json) -> Json:
    return {"description": "The answer.", "content": _build_content(schema)}


def _build_object(**properties: Json) -> Json:
    return {"type": "object", "properties": properties, "required": list(properties)}
