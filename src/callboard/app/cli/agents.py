"""`callboard agents`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from callboard.adapters.acp import installed_agents
from callboard.agents.folder import FolderDefinitions
from callboard.agents.teams import copy_preset, list_presets
from callboard.contracts.entities.team import Edge
from callboard.contracts.errors import Refusal
from callboard.contracts.ports.agents import Definition, DefinitionProblem, Roster

from .terminal.exit_codes import FAILED
from .terminal.output import Style, print_err, print_out, terminal_width, to_line

_HELP = """List the agents of a folder, and check their files.

Reads agents/*.md; needs no server and changes nothing, except with --copy. Ends with 1 when a file is bad.

\b
Examples:
  callboard agents                        those of this folder, and what is wrong with their files
  callboard agents ../other --json        one JSON object: definitions, problems, lead, hash
  callboard agents --presets              teams that come with Callboard
  callboard agents --copy coordinator     writes such a team into agents/, over nothing that is there
  callboard agents --installed            coding agents of this machine that can join one, each with a file to copy
"""
_HEADINGS = ("NAME", "KIND", "ROLE", "TOOLS", "POLICY", "EDGES")


def register(app: typer.Typer) -> None:
    """Adds the verb."""
    app.command("agents", help=_HELP)(_agents)


def _agents(
    folder: Annotated[Path, typer.Argument(help="The folder; this one where none is named.")] = Path(),
    presets: Annotated[bool, typer.Option("--presets", help="The teams to copy instead.")] = False,
    preset: Annotated[
        str, typer.Option("--copy", metavar="NAME", help="Write a team into the folder first.", show_default=False)
    ] = "",
    coding: Annotated[bool, typer.Option("--installed", help="The coding agents of this machine instead.")] = False,
    json: Annotated[
        bool, typer.Option("--json", help="One JSON object; of presets and coding agents one line each.")
    ] = False,
) -> None:
    if coding:
        _print_installed(json=json)
        return
    if presets:
        _print_presets(json=json)
        return
    place = folder.expanduser().resolve()
    if not place.is_dir():
        raise Refusal("no_folder", f"{folder} is not a folder.", field="FOLDER", hint="Give an existing folder.")
    if preset:
        try:
            written = copy_preset(preset, str(place))
        except OSError as error:
            message = f"{place} cannot be written: {error.strerror or error}."
            raise Refusal("invalid_input", message, field="FOLDER", hint="Look at its permissions.") from error
        for path in written:
            print_err(f"wrote {path}")
    roster = FolderDefinitions().roster(str(place))
    if json:
        print_out(msgspec.json.encode(roster).decode())
    else:
        _print(roster, place)
    if roster.problems:
        raise typer.Exit(FAILED)


def _print_installed(*, json: bool) -> None:
    style = Style(sys.stdout)
    found = installed_agents()
    for one in found:
        if json:
            print_out(msgspec.json.encode(one).decode())
        else:
            print_out(f"{style.bold(one.title)}  {style.dim(to_line(one.program))}")
            print_out(f"agents/{one.name}.md:\n{one.definition}")
    if not found and not json:
        print_err("None of the coding agents that speak the Agent Client Protocol is on PATH.")


def _print_presets(*, json: bool) -> None:
    style = Style(sys.stdout)
    found = list_presets()
    longest = max(len(team.name) for team in found)
    for team in found:
        if json:
            print_out(msgspec.json.encode(team).decode())
        else:
            print_out(f"{style.bold(team.name.ljust(longest))}  {team.description}")
            print_out(f"{' ' * longest}  {style.dim(', '.join(team.agents))}")


def _print(roster: Roster, place: Path) -> None:
    style = Style(sys.stdout)
    rows = [_row(one, roster.lead) for one in roster.definitions]
    if rows:
        widths = [max(len(row[column]) for row in (_HEADINGS, *rows)) for column in range(len(_HEADINGS))]
        room = terminal_width() if sys.stdout.isatty() else 0
        for number, row in enumerate((_HEADINGS, *rows)):
            cells = (cell.ljust(size) for cell, size in zip(row, widths, strict=True))
            line = "  ".join(cells).rstrip()
            line = line if not room or len(line) <= room else f"{line[: room - 1]}…"
            print_out(style.dim(line) if number == 0 else line)
    if roster.packaged:
        print_err(style.dim(f"{to_line(str(place))} has no agents of its own; this one comes with Callboard."))
        print_err(style.dim("`callboard agents --presets` shows teams to copy into it."))
    for problem in roster.problems:
        _print_problem(problem, style)
    if roster.problems:
        count = len(roster.problems)
        print_err(
            f"{count} {'problem' if count == 1 else 'problems'}, {len(rows)} {'agent' if len(rows) == 1 else 'agents'}."
        )


def _print_problem(problem: DefinitionProblem, style: Style) -> None:
    place = ":".join(part for part in (problem.file, str(problem.line or ""), problem.field) if part)
    print_out(f"{to_line(place)}: {style.bad(to_line(problem.message))}")
    if problem.hint:
        print_out(style.dim(f"    {to_line(problem.hint)}"))


def _row(one: Definition, lead: str) -> tuple[str, ...]:
    kind = f"{one.kind}, lead" if one.name == lead else one.kind
    edges = ", ".join((*([f"at {one.url}"] if one.url else []), *map(_edge, one.edges)))
    cells = (one.name, kind, one.role, _list(one.tools), _policy(one), edges or "-")
    return tuple(to_line(cell) for cell in cells)


def _list(names: tuple[str, ...]) -> str:
    return "all" if "*" in names else " ".join(names) or "none"


def _policy(one: Definition) -> str:
    told = " ".join(one.policy) or "none"
    if one.delegate_targets is None:
        return told
    return f"{told} to {', '.join(one.delegate_targets) or 'nobody'}"


def _edge(edge: Edge) -> str:
    """Such as `-> tests` or `<-> peer (report, confirm)`."""
    arrow = "<->" if edge.direction == "both" else "->"
    more = [edge.kind] if edge.kind != "handoff" else []
    more += [name for name, asked in (("confirm", edge.confirm), ("ownership", edge.ownership)) if asked]
    return f"{arrow} {edge.to} ({', '.join(more)})" if more else f"{arrow} {edge.to}"
