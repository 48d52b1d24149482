"""Which agents that speak the protocol are installed on this machine. None is ever needed."""

from __future__ import annotations

import shutil

import msgspec


class InstalledAgent(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """An agent that was found. `program` is where; `command` starts it; `definition` is a file for agents/ that takes it into
    a team, to be copied."""

    name: str
    title: str
    program: str
    command: tuple[str, ...]
    definition: str


class _Known(msgspec.Struct, frozen=True):
    """The first word of `command` is the program that is looked for; `before` is what starts it otherwise than by itself."""

    name: str
    title: str
    command: tuple[str, ...]
    before: tuple[str, ...] = ()


_KNOWN = (
    _Known("claude", "Claude Code", ("claude-agent-acp",)),
    _Known("claude", "Claude Code", ("claude-code-acp",)),
    # Left to itself it lets a model of its own answer what it would ask a person.
    _Known("codex", "Codex", ("codex-acp",), ("env", "INITIAL_AGENT_MODE=read-only")),
    _Known("gemini", "Gemini CLI", ("gemini", "--acp")),
    _Known("opencode", "OpenCode", ("opencode", "acp")),
    _Known("goose", "Goose", ("goose", "acp")),
)

_DEFINITION = """---
name: {name}
description: {title}, which works with its own tools and asks here before it changes anything.
kind: {kind}
provider: acp
command: [{command}]
tools: ["*"]
policy: [Patch, Finalize]
permission_mode: ask
---
"""


def installed_agents(path: str | None = None) -> tuple[InstalledAgent, ...]:
    """The agents that are found in `path`, or else on PATH; of two programs that start the same one the first."""
    found: dict[str, InstalledAgent] = {}
    for known in _KNOWN:
        program = shutil.which(known.command[0], path=path)
        if program is not None and known.name not in found:
            found[known.name] = InstalledAgent(
                name=known.name,
                title=known.title,
                program=program,
                command=(*known.before, *known.command),
                definition=definition(known.name, known.title, (*known.before, *known.command)),
            )
    return tuple(found.values())


def definition(name: str, title: str, command: tuple[str, ...], kind: str = "subagent") -> str:
    """A file for agents/ that takes the agent into a team."""
    return _DEFINITION.format(name=name, title=title, kind=kind, command=", ".join(command))
