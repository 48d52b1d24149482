"""What a person is shown of an agent or an edge that is to be made, before anything is."""

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

#: The tools that make agents and edges. A person is asked about each use, whatever the gate's rules and modes say.
MAKING = frozenset(tool.name for tool in TEAM_TOOLS.values() if tool.capability is not None)


def render_card(batch: Batch, scope: Scope, tool: str, arguments: str) -> str:
    """What the call would make, as text. Raises Refusal where it could not make it, so that nobody is asked in vain."""
    asked = casing.decode(arguments, TEAM_TOOLS[tool].arguments)
    maker = batch.thread(scope.thread)
    match asked:
        case DefineAgent():
            return _agent(build_definition(batch, maker, asked))
        case AddEdge():
            return _edge(*build_edge(batch, maker, asked))
        case _:
            raise LookupError(f"{tool} makes nothing")


def _agent(made: Definition) -> str:
    """The agent as its file would define it."""
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
        *(("each waits until it is accepted",) if edge.confirm or edge.ownership else ()),
        *(("it may move the objective to the receiver",) if edge.ownership else ()),
    ]
    return ", ".join((f"{source} {way} {edge.to}: {edge.kind}", *more))
