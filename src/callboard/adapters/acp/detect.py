"""Detection of external agents that are installed on this machine. All of them are optional."""

from __future__ import annotations

import shutil

import msgspec


class InstalledAgent(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """An installed agent.

    Attributes:
        program: Path of the program.
        command: The command that starts it.
        definition: Content of a definition file for agents/ that adds it to a team.
    """

    name: str
    title: str
    program: str
    command: tuple[str, ...]
    definition: str


class _SupportedAgent(msgspec.Struct, frozen=True):
    """An agent to search for: the first word of `command`, started with the words of `prefix` before it."""

    name: str
    title: str
    command: tuple[str, ...]
    prefix: tuple[str, ...] = ()


_SUPPORTED = (
    _SupportedAgent("claude", "Claude Code", ("claude-agent-acp",)),
    _SupportedAgent("claude", "Claude Code", ("claude-code-acp",)),
    # In its default mode a model answers the approvals that a person should answer.
    _SupportedAgent("codex", "Codex", ("codex-acp",), ("env", "INITIAL_AGENT_MODE=read-only")),
    _SupportedAgent("gemini", "Gemini CLI", ("gemini", "--acp")),
    _SupportedAgent("opencode", "OpenCode", ("opencode", "acp")),
    _SupportedAgent("goose", "Goose", ("goose", "acp")),
)

_DEFINITION = """---
name: {name}
description: {title}. It works with its own tools and asks for approval before it changes anything.
kind: {kind}
provider: acp
command: [{command}]
tools: ["*"]
policy: [Patch, Finalize]
permission_mode: ask
---
"""


def detect_agents(path: str | None = None) -> tuple[InstalledAgent, ...]:
    """Return the installed agents. If two programs start the same agent, return the first.

    Args:
        path: Search path in the format of PATH. Default: PATH of this process.
    """
    agents: dict[str, InstalledAgent] = {}
    for supported in _SUPPORTED:
        program = shutil.which(supported.command[0], path=path)
        if program is not None and supported.name not in agents:
            command = (*supported.prefix, *supported.command)
            agents[supported.name] = InstalledAgent(
                name=supported.name,
                title=supported.title,
                program=program,
                command=command,
                definition=format_definition(supported.name, supported.title, command),
            )
    return tuple(agents.values())


def format_definition(name: str, title: str, command: tuple[str, ...], kind: str = "subagent") -> str:
    """Return the content of a definition file for agents/ that adds the agent to a team."""
    return _DEFINITION.format(name=name, title=title, kind=kind, command=", ".join(command))
