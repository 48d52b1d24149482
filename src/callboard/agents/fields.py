"""Fields of a definition's frontmatter. Errors use the description of each type: "`name` must be …"."""

from __future__ import annotations

from typing import Annotated

import msgspec

from callboard.contracts.entities.team import Capability, EdgeDirection, EdgeKind, Isolation, Policy, Role
from callboard.contracts.facts.session import AgentKind
from callboard.contracts.facts.turn import PermissionMode
from callboard.contracts.ports.agents import Colour, Provider

Name = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^[a-z0-9][a-z0-9_-]{0,39}$",
        description="a name of at most 40 lower-case letters, digits, - and _",
    ),
]
Alias = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^\w([\w .-]{0,38}\w)?$",
        description="a name of at most 40 letters, digits, spaces, dots, - and _",
    ),
]
ToolName = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^(\*|mcp__[\w-]{1,59}__\*|[A-Za-z][\w.:/-]{0,99})$",
        description='the name of a tool, "mcp__server__*" for all tools of a server, or "*" for every tool',
    ),
]
Glob = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^(?![/~])(?!(.*/)?\.\.(/|$))[^\\\x00-\x1f]{1,200}$",
        description="a path pattern below the folder without .., such as src/**/*.py",
    ),
]
Word = Annotated[
    str,
    msgspec.Meta(pattern=r"^[^\x00-\x1f]{1,500}$", description="a word of the command, with quotes if it is a number"),
]
AgentMode = Annotated[
    str,
    msgspec.Meta(pattern=r"^[^\x00-\x20]{0,100}$", description="the id of a mode of the agent, or `own`"),
]
Line = Annotated[
    str, msgspec.Meta(pattern=r"^[^\x00-\x1f]{0,1000}\s*$", description="one line of at most 1000 characters")
]
Url = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^https?://[^\s/?#@]+(/\S*)?$",
        description="an https:// or http:// address without user name and password",
    ),
]
Every = Annotated[
    str, msgspec.Meta(pattern=r"^[1-9][0-9]{0,5}[smhd]$", description="a duration such as 30s, 15m, 2h or 1d")
]
Iterations = Annotated[int, msgspec.Meta(ge=1, le=10_000, description="a whole number from 1 to 10000")]

_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}


class EdgeEntry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An entry of `edges`."""

    to: Alias
    direction: EdgeDirection = "to"
    kind: EdgeKind = "handoff"
    confirm: bool = False
    ownership: bool = False


class PolicyTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`policy` as a mapping."""

    allow: tuple[Policy, ...]
    delegate_targets: tuple[Alias, ...] | None = None


class ScheduleFields(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`schedule`."""

    every: Every = ""
    cron: str = ""
    wake_on: tuple[str, ...] = ()


class DefinitionFields(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The frontmatter, in the order of the documentation."""

    name: Name
    description: Line = ""
    kind: AgentKind = "main"
    role: Role = "custom"
    aliases: tuple[Alias, ...] = ()
    lead: bool = False
    model: Line = ""
    tools: tuple[ToolName, ...] = ()
    policy: tuple[Policy, ...] | PolicyTable = ()
    capabilities: tuple[Capability, ...] = ()
    edges: tuple[EdgeEntry, ...] = ()
    permission_mode: PermissionMode | None = None
    work_globs: tuple[Glob, ...] = ()
    isolation: Isolation = "shared"
    max_iters: Iterations = 50
    provider: Provider = ""
    command: tuple[Word, ...] = ()
    agent_mode: AgentMode = ""
    url: Url = ""
    schedule: ScheduleFields | None = None
    color: Colour = ""


def to_seconds(every: str) -> int:
    """Return a valid duration in seconds; 0 for an empty text."""
    return int(every[:-1]) * _SECONDS[every[-1]] if every else 0
