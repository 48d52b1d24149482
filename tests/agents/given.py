"""Folders with agents, as a person would write them."""

from __future__ import annotations

from pathlib import Path

from callboard.agents.folder import FolderDefinitions
from callboard.contracts.ports.agents import DefinitionProblem, Roster


def file(front: str, body: str = "You work.") -> str:
    """A definition's file out of its frontmatter."""
    return f"---\n{front.strip()}\n---\n{body}\n"


def write(folder: Path, **agents: str) -> None:
    """Writes `agents/NAME.md` for each; a text that begins with a fence is the whole file, any other its frontmatter."""
    (folder / "agents").mkdir(exist_ok=True)
    for name, text in agents.items():
        whole = text if text.startswith("---") else file(text if "name:" in text else f"name: {name}\n{text}")
        (folder / "agents" / f"{name}.md").write_text(whole, encoding="utf-8")


def roster(folder: Path, **agents: str) -> Roster:
    """The roster of a folder with these agents."""
    write(folder, **agents)
    return FolderDefinitions().roster(str(folder))


def told(problems: tuple[DefinitionProblem, ...]) -> list[tuple[str, int, str, str]]:
    """Problems without their hints."""
    return [(one.file, one.line, one.field, one.message) for one in problems]


def names(found: Roster) -> list[str]:
    return [one.name for one in found.definitions]
