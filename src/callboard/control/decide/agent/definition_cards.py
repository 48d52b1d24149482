"""Text of approval cards for new agents and edges."""

from __future__ import annotations

import msgspec

from callboard.contracts import casing
from callboard.contracts.commands.defining import AddEdge, DefineAgent
from callboard.contracts.commands.team_tools import TEAM_TOOLS
from callboard.contracts.entities.team import Edge
from callboard.contracts.ports.agents import Definition
from callboard.contracts.scope import Scope

from ...batch import Batch
from .define import build_definition, build_edge

#: Tools that make agents and edges. Each use requires an approval, whatever the rules and modes allow.
MAKING = frozenset(tool.name for tool in TEAM_TOOLS.values() if tool.capability is not None)


def render_card(batch: Batch, scope: Scope, tool: str, arguments: str) -> str:
    """Return what the call would make, as text. Raises Refusal if it cannot make it, so no person
    approves in vain."""
    asked = casing.decode(arguments, TEAM_TOOLS[tool].arguments)
    maker = batch.thread(scope.thread)
    match asked:
        case DefineAgent():
            return _agent(build_definition(batch, maker, asked))
        case AddEdge():
            return _edge(*build_edge(batch, maker, asked))
        case _:
            raise LookupError(f"{tool} is not a tool that makes agents or edges")


def _agent(made: Definition) -> str:
    """Return the agent as a definition file."""
    fields: dict[str, object] = {
        "name": made.name,
        "description": made.description,
        "kind": made.kind,
        "model": made.model,
        "tools": made.tools,
        "policy": made.policy,
        "permission_mode": made.permission_mode,
        "work_globs": made.work_globs,
        "made_by": made.made_by,
    }
    said = {name: value for name, value in fields.items() if value or name in ("tools", "policy")}
    if made.delegate_targets is not None:
        said["policy"] = {"allow": made.policy, "delegate_targets": made.delegate_targets}
    lines = [f"{name}: {msgspec.json.encode(value).decode()}" for name, value in said.items()]
    return "\n".join(("---", *lines, "---", made.prompt, ""))


def _edge(source: str, edge: Edge) -> str:
    way = "↔" if edge.direction == "both" else "→"
    more = [
        *(("each handoff must be accepted",) if edge.confirm or edge.ownership else ()),
        *(("a handoff can move the objective to the receiver",) if edge.ownership else ()),
    ]
    return ", ".join((f"{source} {way} {edge.to}: {edge.kind}", *more))
