"""Folders with definition files."""

from __future__ import annotations

from pathlib import Path

from callboard.agents.folder import FolderDefinitions
from callboard.contracts.ports.agents import DefinitionProblem, Roster


def definition_file(front: str, body: str = "You work.") -> str:
    """Return the content of a definition file."""
    return f"---\n{front.strip()}\n---\n{body}\n"


def write_agents(folder: Path, **agents: str) -> None:
    """Write `agents/NAME.md` for each agent. A text that starts with a fence is the whole file, another its frontmatter."""
    (folder / "agents").mkdir(exist_ok=True)
    for name, text in agents.items():
        content = (
            text if text.startswith("---") else definition_file(text if "name:" in text else f"name: {name}\n{text}")
        )
        (folder / "agents" / f"{name}.md").write_text(content, encoding="utf-8")


def load_roster(folder: Path, **agents: str) -> Roster:
    """Write the agents, and return the roster of the folder."""
    write_agents(folder, **agents)
    return FolderDefinitions().read_roster(str(folder))


def problem_rows(problems: tuple[DefinitionProblem, ...]) -> list[tuple[str, int, str, str]]:
    """Return problems without their hints, as tuples."""
    return [(problem.file, problem.line, problem.field, problem.message) for problem in problems]


def list_names(roster: Roster) -> list[str]:
    return [definition.name for definition in roster.definitions]
