"""The tools that there are: name, description, arguments, and the power that an agent's policy must give for them."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from callboard.contracts.arguments import Arguments
from callboard.contracts.commands.team_tools import TEAM_TOOLS
from callboard.contracts.facts.turn import Mode
from callboard.contracts.ports.model import ToolSpec
from callboard.contracts.ports.tools import ToolContext
from callboard.contracts.team import Policy

from . import bash, edit, finalize, glob, grep, read, write
from .arguments import schema

ALL = "*"


class Kind(NamedTuple):
    """One tool. `power` is what the policy must hold; `only_in` the one mode in which it means anything."""

    name: str
    description: str
    arguments: type[Arguments]
    power: Policy | None = None
    only_in: Mode | None = None


#: Without Patch the shell stays, with a folder that it cannot write.
KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind(bash.NAME, bash.DESCRIPTION, bash.BashArguments),
        Kind(edit.NAME, edit.DESCRIPTION, edit.EditArguments, power="Patch"),
        Kind(finalize.NAME, finalize.DESCRIPTION, finalize.FinalizeArguments, power="Finalize", only_in="auto"),
        Kind(glob.NAME, glob.DESCRIPTION, glob.GlobArguments),
        Kind(grep.NAME, grep.DESCRIPTION, grep.GrepArguments),
        Kind(read.NAME, read.DESCRIPTION, read.ReadArguments),
        Kind(write.NAME, write.DESCRIPTION, write.WriteArguments, power="Patch"),
        *(Kind(tool.name, tool.description, tool.arguments, power=tool.policy) for tool in TEAM_TOOLS.values()),
    )
}


def listed(name: str, context: ToolContext) -> bool:
    """True where the agent's list has the tool."""
    return ALL in context.tools or name in context.tools


def allowed(kind: Kind, context: ToolContext) -> bool:
    """True where the agent's policy gives the power that the tool takes."""
    return kind.power is None or kind.power in context.policy


def specs(context: ToolContext) -> tuple[ToolSpec, ...]:
    """The tools that this agent is told of, by name. Those of a team are told where they could mean something."""
    return tuple(
        _told(kind)
        for kind in KINDS.values()
        if listed(kind.name, context)
        and allowed(kind, context)
        and kind.only_in in {None, context.mode}
        and (kind.name not in TEAM_TOOLS or kind.name in context.teamwork)
    )


@cache
def _told(kind: Kind) -> ToolSpec:
    """Made once: a schema takes half a millisecond to derive, and every session asks for all of them."""
    return ToolSpec(name=kind.name, description=kind.description, schema=schema(kind.arguments))
