"""The product's names of the lists in the Multi-agent runtime specification."""

from __future__ import annotations

from typing import Any, get_args, get_type_hints

import msgspec

from callboard.adapters.http.agentruns.queries import ContextQuery
from callboard.adapters.http.openapi import build_openapi_document
from callboard.agents.fields import DefinitionFields, PolicyTable
from callboard.contracts.entities.team import Policy
from callboard.contracts.facts.session import AgentKind
from callboard.contracts.facts.turn import Mode
from callboard.contracts.rows.run import AgentRunRecord
from callboard.contracts.rows.settings import EffectiveSettings
from callboard.projection.emit.run_emission import PHASES, RunEventName
from callboard.projection.run_end import derive_status
from callboard.tools.builtin.declarations import TOOLS

_ENDS = ("", "completed", "failed", "interrupted")


def runtime_lists() -> dict[str, frozenset[str]]:
    """Return the lists by their paths."""
    schema = msgspec.json.schema(EffectiveSettings)["$defs"]["LeadSettings"]["properties"]
    view = get_type_hints(ContextQuery)["view"]
    return {
        "multi_agent_runtime.sse_events": frozenset(get_args(RunEventName)),
        "multi_agent_runtime.agent_status_states": frozenset(state for state, _ in PHASES.values()),
        "multi_agent_runtime.run_record_fields": frozenset(AgentRunRecord.__struct_fields__),
        "multi_agent_runtime.run_record_statuses": frozenset(
            derive_status(how, cause) for how in _ENDS for cause in ("", "person")
        ),
        "multi_agent_runtime.routes": frozenset(
            f"{method.upper()} {path}" for path, methods in _paths().items() for method in methods
        ),
        "multi_agent_runtime.route_parameters": frozenset(
            parameter["name"]
            for path, methods in _paths().items()
            if path.startswith("/api/agent-")
            for operation in methods.values()
            for parameter in operation["parameters"]
        ),
        "multi_agent_runtime.context_views": frozenset(get_args(view)),
        "multi_agent_runtime.policy_actions": frozenset(get_args(Policy)),
        "multi_agent_runtime.modes": frozenset(get_args(Mode)),
        "multi_agent_runtime.agent_kinds": frozenset(get_args(AgentKind)),
        "multi_agent_runtime.tools": frozenset(TOOLS),
        "multi_agent_runtime.frontmatter": frozenset(
            (
                *(field.encode_name for field in msgspec.structs.fields(DefinitionFields)),
                *(f"policy.{field.encode_name}" for field in msgspec.structs.fields(PolicyTable)),
            )
        ),
        "multi_agent_runtime.bounds": frozenset(f"agent.{name}" for name in schema),
    }


def _paths() -> dict[str, Any]:
    return build_openapi_document()["paths"]
