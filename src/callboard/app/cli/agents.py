"""`callboard agents`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from callboard.adapters.acp import detect_agents
from callboard.agents.folder import FolderDefinitions
from callboard.agents.teams import copy_preset, list_presets
from callboard.contracts.entities.team import Edge
from callboard.contracts.errors import Refusal
from callboard.contracts.ports.agents import Definition, DefinitionProblem, Roster
from callboard.contracts.text.sentences import format_count

from .terminal.exit_codes import FAILED
from .terminal.options import resolve_folder
from .terminal.output import Style, print_err, print_json, print_out, read_terminal_width, to_line

_HELP = """List the agents of a folder, and check their files.

Reads agents/*.md. Needs no server and changes nothing, except with --copy. Exits with 1 if a file is invalid.

\b
Examples:
  callboard agents                        agents of this folder, and problems in their files
  callboard agents ../other --json        one JSON object: definitions, problems, lead, hash
  callboard agents --presets              teams included in Callboard
  callboard agents --copy coordinator     copy a team into agents/, without replacing files
  callboard agents --installed            coding agents of this machine, each with a file to copy
"""
_HEADINGS = ("NAME", "KIND", "ROLE", "TOOLS", "POLICY", "EDGES")


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("agents", help=_HELP)(_agents)


def _agents(
    folder: Annotated[Path, typer.Argument(help="Project folder. [default: .]", show_default=False)] = Path(),
    presets: Annotated[bool, typer.Option("--presets", help="Teams to copy, instead of the folder's agents.")] = False,
    preset: Annotated[str, typer.Option("--copy", metavar="NAME", help="Team to copy into the folder.")] = "",
    coding: Annotated[
        bool, typer.Option("--installed", help="Coding agents of this machine, instead of the folder's agents.")
    ] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Output as one JSON object, or one JSON line per team or coding agent.")
    ] = False,
) -> None:
    if coding:
        _print_installed(json=json)
        return
    if presets:
        _print_presets(json=json)
        return
    path = resolve_folder(folder, "FOLDER").resolve()
    if preset:
        _copy(preset, path)
    roster = FolderDefinitions().read_roster(str(path))
    if json:
        print_json(roster)
    else:
        _print(roster, path)
    if roster.problems:
        raise typer.Exit(FAILED)


def _copy(preset: str, folder: Path) -> None:
    try:
        written = copy_preset(preset, str(folder))
    except OSError as error:
        message = f"{folder} cannot be written: {error.strerror or error}."
        raise Refusal("invalid_input", message, field="FOLDER", hint="Check its permissions.") from error
    for path in written:
        print_err(f"wrote {path}")


def _print_installed(*, json: bool) -> None:
    style = Style(sys.stdout)
    agents = detect_agents()
    for agent in agents:
        if json:
            print_json(agent)
        else:
            print_out(f"{style.bold(agent.title)}  {style.dim(to_line(agent.program))}")
            print_out(f"agents/{agent.name}.md:\n{agent.definition}")
    if not agents and not json:
        print_err("PATH has no coding agent that supports the Agent Client Protocol.")


def _print_presets(*, json: bool) -> None:
    style = Style(sys.stdout)
    presets = list_presets()
    width = max(len(team.name) for team in presets)
    for team in presets:
        if json:
            print_json(team)
        else:
            print_out(f"{style.bold(team.name.ljust(width))}  {team.description}")
            print_out(f"{' ' * width}  {style.dim(', '.join(team.agents))}")


def _print(roster: Roster, folder: Path) -> None:
    style = Style(sys.stdout)
    rows = [_format_row(agent, roster.lead) for agent in roster.definitions]
    if rows:
        widths = [max(len(row[column]) for row in (_HEADINGS, *rows)) for column in range(len(_HEADINGS))]
        max_width = read_terminal_width() if sys.stdout.isatty() else 0
        for number, row in enumerate((_HEADINGS, *rows)):
            line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            line = line if not max_width or len(line) <= max_width else f"{line[: max_width - 1]}…"
            print_out(style.dim(line) if number == 0 else line)
    if roster.packaged:
        print_err(style.dim(f"{to_line(str(folder))} defines no agents; this agent is included in Callboard."))
        print_err(style.dim("`callboard agents --presets` lists teams to copy into it."))
    for problem in roster.problems:
        _print_problem(problem, style)
    if roster.problems:
        print_err(f"{format_count(len(roster.problems), 'problem')}, {format_count(len(rows), 'agent')}.")


def _print_problem(problem: DefinitionProblem, style: Style) -> None:
    location = ":".join(part for part in (problem.file, str(problem.line or ""), problem.field) if part)
    print_out(f"{to_line(location)}: {style.bad(to_line(problem.message))}")
    if problem.hint:
        print_out(style.dim(f"    {to_line(problem.hint)}"))


def _format_row(agent: Definition, lead: str) -> tuple[str, ...]:
    kind = f"{agent.kind}, lead" if agent.name == lead else agent.kind
    edges = ", ".join((*([f"at {agent.url}"] if agent.url else []), *map(_format_edge, agent.edges)))
    tools = "all" if "*" in agent.tools else " ".join(agent.tools) or "none"
    cells = (agent.name, kind, agent.role, tools, _format_policy(agent), edges or "-")
    return tuple(to_line(cell) for cell in cells)


def _format_policy(agent: Definition) -> str:
    policy = " ".join(agent.policy) or "none"
    if agent.delegate_targets is None:
        return policy
    return f"{policy} to {', '.join(agent.delegate_targets) or 'no agent'}"


def _format_edge(edge: Edge) -> str:
    """Return an edge such as `-> tests` or `<-> peer (report, confirm)`."""
    arrow = "<->" if edge.direction == "both" else "->"
    notes = [edge.kind] if edge.kind != "handoff" else []
    notes += [name for name, is_set in (("confirm", edge.confirm), ("ownership", edge.ownership)) if is_set]
    return f"{arrow} {edge.to} ({', '.join(notes)})" if notes else f"{arrow} {edge.to}"
