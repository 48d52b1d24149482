"""A roster out of the files of a folder: what only shows when the definitions stand side by side.

A file that contradicts another one still gives an agent, with less: the name that is taken, the edge that is refused or the
target that nobody is are left out and reported. Nothing that is left out widens what an agent may do.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import msgspec

from callboard.contracts.entities.team import Edge
from callboard.contracts.ports.agents import Definition, DefinitionProblem, Roster, folded

from .definition import LoadedDefinition
from .marks import suggest

FOLDER = "agents"


class _Way(NamedTuple):
    """One direction of an edge."""

    source: str
    target: str
    kind: str


def build_roster(
    files: Iterable[LoadedDefinition], *, packaged: bool = False, problems: Iterable[DefinitionProblem] = ()
) -> Roster:
    """The agents of these files, in their order. `problems` are what else is wrong in the folder."""
    return _RosterBuilder(tuple(files), problems).made(packaged=packaged)


class _RosterBuilder:
    def __init__(self, files: tuple[LoadedDefinition, ...], problems: Iterable[DefinitionProblem]) -> None:
        self._files = files
        self._problems = [*problems, *(one for file in files for one in file.problems)]
        self._agents: dict[str, tuple[Definition, LoadedDefinition]] = {}
        self._names: dict[str, Definition] = {}
        self._ways: dict[_Way, str] = {}

    def made(self, *, packaged: bool) -> Roster:
        self._name()
        self._call()
        definitions = tuple(self._bound(definition, file) for definition, file in self._agents.values())
        lead = self._lead(definitions)
        order = {file.file: place for place, file in enumerate(self._files)}
        problems = tuple(sorted(self._problems, key=lambda one: (order.get(one.file, -1), one.line)))
        found = Roster(definitions=definitions, problems=problems, lead=lead, packaged=packaged, hash="")
        told = msgspec.json.encode(found)
        return msgspec.structs.replace(found, hash=hashlib.sha256(told).hexdigest())

    def _name(self) -> None:
        """Each name is the first file's that has it."""
        for file in self._files:
            if (definition := file.definition) is None:
                continue
            key = folded(definition.name)
            if (former := self._names.get(key)) is not None:
                message = f"The name {definition.name} is taken by {former.file}."
                self._problem(file, "name", message, "This file gives no agent until it has another name.")
                continue
            self._names[key] = definition
            self._agents[definition.name] = (definition, file)

    def _call(self) -> None:
        """An alias is never the name of another agent, and otherwise the first file's that has it."""
        for name, (definition, file) in self._agents.items():
            kept: list[str] = []
            for number, alias in enumerate(definition.aliases):
                former = self._names.setdefault(folded(alias), definition)
                if former.name != name:
                    message = f"The alias {alias} is taken by {former.file}."
                    self._problem(file, f"aliases[{number}]", message, "The agent is loaded without it.")
                else:
                    kept.append(alias)
            self._agents[name] = (msgspec.structs.replace(definition, aliases=tuple(kept)), file)

    def _bound(self, definition: Definition, file: LoadedDefinition) -> Definition:
        """The definition with its edges and targets by name, without those that cannot be."""
        edges = tuple(
            bound
            for number, edge in enumerate(definition.edges)
            if (bound := self._edge(definition, edge, f"edges[{number}]", file)) is not None
        )
        targets = definition.delegate_targets
        if targets is not None:
            field = "policy.delegate_targets"
            found = (self._target(name, f"{field}[{number}]", file) for number, name in enumerate(targets))
            targets = tuple(dict.fromkeys(one for one in found if one is not None))
        return msgspec.structs.replace(definition, edges=edges, delegate_targets=targets)

    def _edge(self, definition: Definition, edge: Edge, field: str, file: LoadedDefinition) -> Edge | None:
        other = self._found(edge.to, f"{field}.to", file)
        if other is None:
            return None
        if (refused := _forbidden(definition, other, edge)) is not None:
            part, message, hint = refused
            self._problem(file, f"{field}.{part}", message, hint)
            return None
        ways = [_Way(definition.name, other.name, edge.kind)]
        if edge.direction == "both":
            ways.append(_Way(other.name, definition.name, edge.kind))
        for way in ways:
            if (former := self._ways.get(way)) is not None:
                message = f"The {way.kind} edge from {way.source} to {way.target} is there already, in {former}."
                self._problem(file, f"{field}.to", message, "Keep one of them.")
                return None
        self._ways.update(dict.fromkeys(ways, file.file))
        return msgspec.structs.replace(edge, to=other.name)

    def _target(self, name: str, field: str, file: LoadedDefinition) -> str | None:
        other = self._found(name, field, file)
        if other is None:
            return None
        if other.kind == "main":
            message = f"{other.name} is a main agent, and mains delegate to others, not to each other."
            self._problem(file, field, message, "Mains send each other messages, and hand over along an edge.")
            return None
        return other.name

    def _found(self, name: str, field: str, file: LoadedDefinition) -> Definition | None:
        found = self._names.get(folded(name))
        if found is None:
            self._problem(file, field, f"There is no agent {name}.", self._missing(name))
        return found

    def _missing(self, name: str) -> str:
        bad = next((one for one in self._files if one.problems and folded(_stem(one.file)) == folded(name)), None)
        if bad is not None:
            return f"{bad.file} is not loaded; mend it first."
        return suggest(name, self._agents) or f"There are {', '.join(sorted(self._agents))}."

    def _lead(self, definitions: tuple[Definition, ...]) -> str:
        mains = [one for one in definitions if one.kind == "main"]
        asking = [one for one in mains if one.lead]
        for other in asking[1:]:
            file = self._agents[other.name][1]
            self._problem(file, "lead", f"{asking[0].name} leads already.", "Only one agent has `lead: true`.")
        if asking:
            return asking[0].name
        if len(mains) > 1:
            names = ", ".join(one.name for one in mains)
            message = f"{len(mains)} agents could lead ({names}); {mains[0].name} does, because its file is the first."
            self._problem(self._agents[mains[0].name][1], "lead", message, "Give the one that leads `lead: true`.")
        if not mains and self._files:
            message = "No agent here can lead: none that loads has `kind: main`."
            hint = "Mend the file of the lead, or add one; `callboard agents --presets` shows teams to copy."
            self._problems.append(DefinitionProblem(file=FOLDER, line=0, field="lead", message=message, hint=hint))
        return mains[0].name if mains else ""

    def _problem(self, file: LoadedDefinition, field: str, message: str, hint: str) -> None:
        line = _line(file.lines, field)
        self._problems.append(DefinitionProblem(file=file.file, line=line, field=field, message=message, hint=hint))


def _forbidden(source: Definition, target: Definition, edge: Edge) -> tuple[str, str, str] | None:
    """Why no edge can be what this one says: the part at fault, the reason and what to do. Edges lift no invariant."""
    if source.name == target.name:
        return "to", "An edge leads to another agent.", "Take it out."
    if source.kind == "subagent" and target.kind == "subagent":
        return (
            "to",
            f"A subagent reaches no other subagent, and {target.name} is one.",
            "Let both report to a main agent.",
        )
    if source.kind == "subagent":
        message = "A subagent reaches nobody but the agent that started it, and that needs no edge."
        return "to", message, "Take the edge out."
    if target.kind == "subagent" and edge.direction == "both":
        message = f"The way back is not allowed: {target.name} is a subagent and reports to the agent that started it."
        return "direction", message, "Use `direction: to`; the report needs no edge."
    if edge.kind == "report" and edge.ownership:
        return "ownership", "A report hands nothing over, so it moves no ownership.", "Use `kind: handoff`."
    return None


def _stem(file: str) -> str:
    return file.rpartition("/")[2].removesuffix(".md")


def _line(lines: Mapping[str, int], field: str) -> int:
    """The line of a field, or of the nearest one around it that the file has."""
    while field and field not in lines:
        field = field.rpartition(".")[0]
    return lines.get(field, 1)
