"""Text of approval cards for new agents and edges."""

from __future__ import annotations

import msgspec

from callboard.contracts import casing
from callboard.contracts.commands.agent import AddEdgeArguments, DefineAgentArguments
from callboard.contracts.entities.team import Edge
from callboard.contracts.ports.agents import Definition
from callboard.contracts.scope import Scope
from callboard.contracts.team_tools import TEAM_TOOLS

from ...batch import Batch
from .define import build_definition, build_edge

#: Tools that define agents and add edges. Each use requires an approval, whatever the rules and modes allow.
MAKING = frozenset(tool.name for tool in TEAM_TOOLS.values() if tool.capability is not None)


def render_card(batch: Batch, scope: Scope, tool: str, arguments: str) -> str:
    """Return what the call would make, as text. Raises Refusal if it cannot make it, so no person
    approves in vain."""
    request = casing.decode(arguments, TEAM_TOOLS[tool].arguments)
    creator = batch.get_thread(scope.thread)
    match request:
        case DefineAgentArguments():
            return _render_agent(build_definition(batch, creator, request))
        case AddEdgeArguments():
            return _render_edge(*build_edge(batch, creator, request))
        case _:
            raise LookupError(f"{tool} is not a tool that defines agents or adds edges")


def _render_agent(definition: Definition) -> str:
    """Return the agent as a definition file."""
    fields: dict[str, object] = {
        "name": definition.name,
        "description": definition.description,
        "kind": definition.kind,
        "model": definition.model,
        "tools": definition.tools,
        "policy": definition.policy,
        "permission_mode": definition.permission_mode,
        "work_globs": definition.work_globs,
        "made_by": definition.made_by,
    }
    shown_fields = {name: value for name, value in fields.items() if value or name in ("tools", "policy")}
    if definition.delegate_targets is not None:
        shown_fields["policy"] = {"allow": definition.policy, "delegate_targets": definition.delegate_targets}
    lines = [f"{name}: {msgspec.json.encode(value).decode()}" for name, value in shown_fields.items()]
    return "\n".join(("---", *lines, "---", definition.prompt, ""))


def _render_edge(source: str, edge: Edge) -> str:
    way = "↔" if edge.direction == "both" else "→"
    notes = [
        *(("each handoff must be accepted",) if edge.confirm or edge.ownership else ()),
        *(("a handoff can move the objective to the receiver",) if edge.ownership else ()),
    ]
    return ", ".join((f"{source} {way} {edge.to}: {edge.kind}", *notes))
