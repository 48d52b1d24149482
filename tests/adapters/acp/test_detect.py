"""Coding agents that are installed are found and offered; none is needed."""

from __future__ import annotations

from pathlib import Path

from callboard.adapters.acp import installed_agents
from callboard.agents.definition import load_definition


def program(folder: Path, name: str) -> str:
    made = folder / name
    made.write_text("#!/bin/sh\n")
    made.chmod(0o755)
    return str(made)


def test_installed_agents_are_offered_with_a_definition_that_can_be_copied(tmp_path: Path):
    gemini, codex = program(tmp_path, "gemini"), program(tmp_path, "codex-acp")
    program(tmp_path, "claude-agent-acp")
    program(tmp_path, "claude-code-acp")

    found = installed_agents(str(tmp_path))

    assert [(one.name, one.command) for one in found] == [
        ("claude", ("claude-agent-acp",)),
        ("codex", ("env", "INITIAL_AGENT_MODE=read-only", "codex-acp")),
        ("gemini", ("gemini", "--acp")),
    ]
    assert (found[1].program, found[2].program) == (codex, gemini)
    for one in found:
        definition = load_definition(one.definition.encode(), f"agents/{one.name}.md").definition
        assert definition is not None
        assert (definition.provider, definition.command, definition.kind) == ("acp", one.command, "subagent")


def test_nothing_is_offered_where_nothing_is_installed(tmp_path: Path):
    assert installed_agents(str(tmp_path)) == ()
