"""Detection of installed external agents."""

from __future__ import annotations

from pathlib import Path

from callboard.adapters.acp import detect_agents
from callboard.agents.definition import load_definition


def install(folder: Path, name: str) -> str:
    path = folder / name
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


def test_installed_agents_have_a_valid_definition(tmp_path: Path):
    gemini, codex = install(tmp_path, "gemini"), install(tmp_path, "codex-acp")
    install(tmp_path, "claude-agent-acp")
    install(tmp_path, "claude-code-acp")

    agents = detect_agents(str(tmp_path))

    assert [(agent.name, agent.command) for agent in agents] == [
        ("claude", ("claude-agent-acp",)),
        ("codex", ("env", "INITIAL_AGENT_MODE=read-only", "codex-acp")),
        ("gemini", ("gemini", "--acp")),
    ]
    assert (agents[1].program, agents[2].program) == (codex, gemini)
    for agent in agents:
        definition = load_definition(agent.definition.encode(), f"agents/{agent.name}.md").definition
        assert definition is not None
        assert (definition.provider, definition.command, definition.kind) == ("acp", agent.command, "subagent")


def test_without_installed_agents_the_list_is_empty(tmp_path: Path):
    assert detect_agents(str(tmp_path)) == ()
