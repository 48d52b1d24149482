"""Declarations of the built-in tools: name, description, arguments and required policy."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from callboard.contracts.commands.process import PROCESS_TOOL_TABLE, PROCESS_TOOLS
from callboard.contracts.entities.arguments import Arguments
from callboard.contracts.entities.team import Policy
from callboard.contracts.facts.turn import Mode
from callboard.contracts.ports.model import ToolSpec
from callboard.contracts.ports.tools import ToolContext
from callboard.contracts.team_tools import TEAM_TOOLS

from ..arguments import schema
from ..mcp import catalog
from ..mcp.servers import McpCatalog
from ..mcp.tool_selection import ToolOffer
from . import bash, edit, finalize, find_tools, glob, grep, read, read_output, write

ALL = "*"
#: Catalog without servers.
NO_SERVERS = McpCatalog()


class BuiltinTool(NamedTuple):
    """Declaration of a tool.

    Attributes:
        power: Policy that the agent needs.
        only_in: The only mode in which the tool is available.
        offered: Set for a tool of a server.
    """

    name: str
    description: str
    arguments: type[Arguments]
    policy: Policy | None = None
    only_mode: Mode | None = None
    offer: ToolOffer | None = None


#: Without Patch an agent keeps the shell, but the folder is read-only for it.
TOOLS: dict[str, BuiltinTool] = {
    kind.name: kind
    for kind in (
        BuiltinTool(bash.NAME, bash.DESCRIPTION, bash.BashArguments),
        BuiltinTool(edit.NAME, edit.DESCRIPTION, edit.EditArguments, policy="Patch"),
        BuiltinTool(
            finalize.NAME, finalize.DESCRIPTION, finalize.FinalizeArguments, policy="Finalize", only_mode="auto"
        ),
        BuiltinTool(find_tools.NAME, find_tools.DESCRIPTION, find_tools.FindToolsArguments),
        BuiltinTool(glob.NAME, glob.DESCRIPTION, glob.GlobArguments),
        BuiltinTool(grep.NAME, grep.DESCRIPTION, grep.GrepArguments),
        BuiltinTool(read.NAME, read.DESCRIPTION, read.ReadArguments),
        BuiltinTool(read_output.NAME, read_output.DESCRIPTION, read_output.ReadOutputArguments),
        BuiltinTool(write.NAME, write.DESCRIPTION, write.WriteArguments, policy="Patch"),
        *(BuiltinTool(tool.name, tool.description, tool.arguments) for tool in PROCESS_TOOL_TABLE),
        *(BuiltinTool(tool.name, tool.description, tool.arguments, policy=tool.policy) for tool in TEAM_TOOLS.values()),
    )
}


def is_listed(name: str, context: ToolContext) -> bool:
    """Return True if the agent's list has the tool. The shell includes its process and output tools."""
    return (
        ALL in context.tools
        or (bash.NAME if name in (*PROCESS_TOOLS, read_output.NAME) else name) in context.tools
        or name in context.tools
        or catalog.is_listed(name, context.tools)
    )


def find_tool(name: str, there: McpCatalog) -> BuiltinTool | None:
    """Return the tool of that name; None if there is none. A server's tool needs Patch unless it
    declares that it only reads.
    """
    offered = there.offers.get(name)
    if offered is None:
        return TOOLS.get(name)
    power: Policy | None = None if offered.read_only else "Patch"
    return BuiltinTool(name, offered.spec.description, catalog.McpTool, policy=power, offer=offered)


def list_findable(context: ToolContext, there: McpCatalog) -> list[ToolOffer]:
    """Return the deferred tools that this agent could load."""
    return [
        one
        for one in there.offers.values()
        if one.deferred and one.name not in context.loaded_tools and _could_have(one, context, there)
    ]


def has_policy(kind: BuiltinTool, context: ToolContext) -> bool:
    """Return True if the agent has the policy that the tool requires."""
    return kind.policy is None or kind.policy in context.policy


def list_specs(context: ToolContext, there: McpCatalog = NO_SERVERS) -> tuple[ToolSpec, ...]:
    """Return the tools that this agent can see, by name.

    Team tools are included if they can apply, and deferred tools after the run loaded them.
    """
    own = tuple(
        _told(kind)
        for kind in TOOLS.values()
        if is_listed(kind.name, context)
        and has_policy(kind, context)
        and kind.only_mode in {None, context.mode}
        and (kind.name not in TEAM_TOOLS or kind.name in context.teamwork)
        and kind.name != find_tools.NAME
    )
    theirs = tuple(
        one.spec
        for one in sorted(there.offers.values(), key=lambda one: one.name)
        if _could_have(one, context, there) and (not one.deferred or one.name in context.loaded_tools)
    )
    finding = (_told(TOOLS[find_tools.NAME]),) if list_findable(context, there) else ()
    return (*own, *finding, *theirs)


def _could_have(one: ToolOffer, context: ToolContext, there: McpCatalog) -> bool:
    """Return True if only an approval is missing for the agent to use a server's tool."""
    held = context.read_only or context.permission_mode == "planning" or context.work_globs or context.parent_globs
    may_change = "Patch" in context.policy and not held
    return is_listed(one.name, context) and (one.read_only or may_change) and not there.find_outage(one.server)


@cache
def _told(kind: BuiltinTool) -> ToolSpec:
    """Return the tool's spec. Cached, because a schema takes half a millisecond and every session
    needs all of them.
    """
    return ToolSpec(name=kind.name, description=kind.description, schema=schema(kind.arguments))
