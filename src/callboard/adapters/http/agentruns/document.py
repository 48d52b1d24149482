"""The routes of the Multi-agent runtime specification as OpenAPI."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from callboard.contracts.rows.run_record import AgentRunRecord, EffectiveSettings

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


def agent_run_structs() -> list[type[msgspec.Struct]]:
    """What the document needs the schemas of."""
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


def agent_run_paths(
    operation: Callable[..., Json], parameters: Callable[[str], list[Json]], headers: tuple[Json, Json]
) -> Json:
    """The paths. `operation` and `parameters` make the parts as for every other route; `headers` are the idempotency key and
    Last-Event-ID."""
    key, resumed = headers

    def get(name: str, summary: str, answer: Json, query: str, *more: Json) -> Json:
        return {"get": operation(name, summary, answer, tag=_TAG, parameters=[*parameters(query), *more])}

    def post(name: str, summary: str, answer: Json, body: str, *more: Json, required: bool = True) -> Json:
        sent = {"required": required, "content": _json({"$ref": f"#/components/schemas/{body}"})}
        return {"post": operation(name, summary, answer, tag=_TAG, parameters=[key, *more], requestBody=sent)}

    runs: Json = {"type": "array", "items": {"$ref": "#/components/schemas/AgentRunRecord"}}
    stream = {
        "description": "Nine kinds of event, each wrapped with its `seq`.",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    }
    holds = _answer({"$ref": "#/components/schemas/EffectiveSettings"})
    raw = {"type": "object", "properties": {"view": {"const": "raw"}}}
    context = _answer({"anyOf": [{"$ref": "#/components/schemas/RunSummary"}, raw]})
    return {
        "/api/agent-runs": get("agent_runs", "The runs of a session or folder.", _answer(_of(runs=runs)), "RunsQuery"),
        "/api/agent-children": get(
            "agent_children", "The runs that were begun for a run.", _answer(_of(children=runs)), "ChildrenQuery"
        ),
        "/api/agent-context": get("agent_context", "What a run was told, said and did.", context, "ContextQuery"),
        "/api/agent-cancel": post(
            "agent_cancel", "Cancel a run and whatever works for it.", _answer(_of(run=runs["items"])), "CancelBody"
        ),
        "/api/chat": post(
            "chat",
            "Give an agent a message; it is queued where the agent is busy.",
            _answer({"$ref": "#/components/schemas/Accepted"}),
            "ChatBody",
        ),
        "/api/events": get("events", "What happens in a folder, in one order.", stream, "EventsQuery", resumed),
        "/api/settings": {
            **get("settings", "The settings that hold in a folder.", holds, "SettingsQuery"),
            **post("change_settings", "Change settings; what cannot be changed is named.", holds, "SettingsBody"),
        },
        "/api/workspace/tree": get(
            "workspace_tree", "The files of a folder.", _answer({"$ref": "#/components/schemas/Tree"}), "TreeQuery"
        ),
        "/api/runs/{session}/nodes/{agent}/interrupt": post(
            "interrupt_node",
            "Interrupt what an agent of a session runs.",
            _answer({"type": "object"}),
            "InterruptBody",
            _SESSION,
            _AGENT,
            required=False,
        ),
    }


def _json(schema: Json) -> Json:
    return {"application/json": {"schema": schema}}


def _answer(schema: Json) -> Json:
    return {"description": "The answer.", "content": _json(schema)}


def _of(**properties: Json) -> Json:
    return {"type": "object", "properties": properties, "required": list(properties)}
