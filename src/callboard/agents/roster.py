"""Roster of a folder's definitions, with the checks across files.

A definition that contradicts another one loads with less: a used alias, an invalid edge or an unknown target is removed and
reported. A removal never grants an agent more permissions.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import msgspec

from callboard.contracts.entities.team import Edge
from callboard.contracts.ports.agents import Definition, DefinitionProblem, Roster, fold_name

from .definition import LoadedDefinition
from .frontmatter import suggest

FOLDER = "agents"


class _DirectedEdge(NamedTuple):
    """One direction of an edge."""

    source: str
    target: str
    kind: str


def build_roster(
    files: Iterable[LoadedDefinition], *, packaged: bool = False, problems: Iterable[DefinitionProblem] = ()
) -> Roster:
    """Build the roster of the files, in their order.

    Args:
        packaged: True for the packaged agent.
        problems: Further problems of the folder.
    """
    return _RosterBuilder(tuple(files), problems).build(packaged=packaged)


class _RosterBuilder:
    def __init__(self, files: tuple[LoadedDefinition, ...], problems: Iterable[DefinitionProblem]) -> None:
        self._files = files
        self._problems = [*problems, *(problem for file in files for problem in file.problems)]
        self._agents: dict[str, tuple[Definition, LoadedDefinition]] = {}
        self._names: dict[str, Definition] = {}
        self._directed_edges: dict[_DirectedEdge, str] = {}

    def build(self, *, packaged: bool) -> Roster:
        self._assign_names()
        self._assign_aliases()
        definitions = tuple(self._resolve(definition, file) for definition, file in self._agents.values())
        lead = self._choose_lead(definitions)
        order = {file.file: number for number, file in enumerate(self._files)}
        problems = tuple(sorted(self._problems, key=lambda problem: (order.get(problem.file, -1), problem.line)))
        roster = Roster(definitions=definitions, problems=problems, lead=lead, packaged=packaged, hash="")
        return msgspec.structs.replace(roster, hash=hashlib.sha256(msgspec.json.encode(roster)).hexdigest())

    def _assign_names(self) -> None:
        """Assign each name to the first file that has it."""
        for file in self._files:
            if (definition := file.definition) is None:
                continue
            key = fold_name(definition.name)
            if (owner := self._names.get(key)) is not None:
                message = f"{owner.file} already has the name {definition.name}."
                self._add_problem(file, "name", message, "Change the name. The agent is not loaded until then.")
                continue
            self._names[key] = definition
            self._agents[definition.name] = (definition, file)

    def _assign_aliases(self) -> None:
        """Assign each alias to the first file that has it, unless it is the name of another agent."""
        for name, (definition, file) in self._agents.items():
            aliases: list[str] = []
            for number, alias in enumerate(definition.aliases):
                owner = self._names.setdefault(fold_name(alias), definition)
                if owner.name != name:
                    message = f"{owner.file} already has the alias {alias}."
                    self._add_problem(file, f"aliases[{number}]", message, "The agent is loaded without it.")
                else:
                    aliases.append(alias)
            self._agents[name] = (msgspec.structs.replace(definition, aliases=tuple(aliases)), file)

    def _resolve(self, definition: Definition, file: LoadedDefinition) -> Definition:
        """Return the definition with valid edges and targets only, all with names in place of aliases."""
        edges = tuple(
            resolved
            for number, edge in enumerate(definition.edges)
            if (resolved := self._resolve_edge(definition, edge, f"edges[{number}]", file)) is not None
        )
        targets = definition.delegate_targets
        if targets is not None:
            field = "policy.delegate_targets"
            resolved_targets = (
                self._resolve_target(name, f"{field}[{number}]", file) for number, name in enumerate(targets)
            )
            targets = tuple(dict.fromkeys(target for target in resolved_targets if target is not None))
        return msgspec.structs.replace(definition, edges=edges, delegate_targets=targets)

    def _resolve_edge(self, definition: Definition, edge: Edge, field: str, file: LoadedDefinition) -> Edge | None:
        other = self._find(edge.to, f"{field}.to", file)
        if other is None:
            return None
        if (violation := _find_violation(definition, other, edge)) is not None:
            part, message, hint = violation
            self._add_problem(file, f"{field}.{part}", message, hint)
            return None
        directed_edges = [_DirectedEdge(definition.name, other.name, edge.kind)]
        if edge.direction == "both":
            directed_edges.append(_DirectedEdge(other.name, definition.name, edge.kind))
        for directed in directed_edges:
            if (owner := self._directed_edges.get(directed)) is not None:
                message = f"{owner} already has a {directed.kind} edge from {directed.source} to {directed.target}."
                self._add_problem(file, f"{field}.to", message, "Remove one of them.")
                return None
        self._directed_edges.update(dict.fromkeys(directed_edges, file.file))
        return msgspec.structs.replace(edge, to=other.name)

    def _resolve_target(self, name: str, field: str, file: LoadedDefinition) -> str | None:
        other = self._find(name, field, file)
        if other is None:
            return None
        if other.kind == "main":
            message = f"{other.name} is a main agent, and main agents cannot delegate to each other."
            self._add_problem(file, field, message, "Use messages, or a handoff along an edge.")
            return None
        return other.name

    def _find(self, name: str, field: str, file: LoadedDefinition) -> Definition | None:
        definition = self._names.get(fold_name(name))
        if definition is None:
            self._add_problem(file, field, f"There is no agent {name}.", self._suggest_agent(name))
        return definition

    def _suggest_agent(self, name: str) -> str:
        invalid = next(
            (file for file in self._files if file.problems and fold_name(_get_stem(file.file)) == fold_name(name)), None
        )
        if invalid is not None:
            return f"{invalid.file} is not loaded: fix its problems first."
        return suggest(name, self._agents) or f"Agents: {', '.join(sorted(self._agents))}."

    def _choose_lead(self, definitions: tuple[Definition, ...]) -> str:
        mains = [definition for definition in definitions if definition.kind == "main"]
        leads = [definition for definition in mains if definition.lead]
        for other in leads[1:]:
            file = self._agents[other.name][1]
            self._add_problem(
                file, "lead", f"{leads[0].name} is already the lead.", "Set `lead: true` for one agent only."
            )
        if leads:
            return leads[0].name
        if len(mains) > 1:
            names = ", ".join(definition.name for definition in mains)
            message = (
                f"{len(mains)} agents can lead ({names}); {mains[0].name} is the lead because its file is the first."
            )
            self._add_problem(self._agents[mains[0].name][1], "lead", message, "Set `lead: true` for the lead.")
        if not mains and self._files:
            message = "No agent can lead: no valid definition has `kind: main`."
            hint = "Fix or add the file of a lead. `callboard agents --presets` lists teams to copy."
            self._problems.append(DefinitionProblem(file=FOLDER, line=0, field="lead", message=message, hint=hint))
        return mains[0].name if mains else ""

    def _add_problem(self, file: LoadedDefinition, field: str, message: str, hint: str) -> None:
        line = _find_line(file.lines, field)
        self._problems.append(DefinitionProblem(file=file.file, line=line, field=field, message=message, hint=hint))


def _find_violation(source: Definition, target: Definition, edge: Edge) -> tuple[str, str, str] | None:
    """Return the rule that an edge violates, as its field, message and hint; None if the edge is valid."""
    if source.name == target.name:
        return "to", "An edge must lead to another agent.", "Remove the edge."
    if source.kind == "subagent" and target.kind == "subagent":
        message = f"A subagent cannot have an edge to another subagent such as {target.name}."
        return "to", message, "Let both report to a main agent."
    if source.kind == "subagent":
        message = "A subagent can reach only the agent that started it, which needs no edge."
        return "to", message, "Remove the edge."
    if target.kind == "subagent" and edge.direction == "both":
        message = f"The subagent {target.name} can reach only the agent that started it."
        return "direction", message, "Use `direction: to`; reports need no edge."
    if edge.kind == "report" and edge.ownership:
        return "ownership", "A report cannot transfer ownership.", "Use `kind: handoff`."
    return None


def _get_stem(file: str) -> str:
    return file.rpartition("/")[2].removesuffix(".md")


def _find_line(lines: Mapping[str, int], field: str) -> int:
    """Return the line of a field, or of its closest parent in the file."""
    while field and field not in lines:
        field = field.rpartition(".")[0]
    return lines.get(field, 1)
