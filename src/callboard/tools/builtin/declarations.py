"""Declarations of the built-in tools."""

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

from ..arguments import build_schema
from ..mcp import catalog
from ..mcp.servers import McpCatalog
from ..mcp.tool_selection import ToolOffer
from . import bash, edit, finalize, find_tools, glob, grep, read, read_output, write

ALL = "*"
NO_SERVERS = McpCatalog()


class BuiltinTool(NamedTuple):
    """Declaration of a tool.

    Attributes:
        policy: Policy that the agent needs.
        only_mode: The only mode in which the tool is available.
        offer: The server's offer, for a tool of a server.
    """

    name: str
    description: str
    arguments: type[Arguments]
    policy: Policy | None = None
    only_mode: Mode | None = None
    offer: ToolOffer | None = None


#: Without Patch an agent keeps the shell, with a read-only folder.
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


def find_tool(name: str, server_tools: McpCatalog) -> BuiltinTool | None:
    """Return the tool; None if unknown. A server's tool needs Patch unless it declares that it only reads."""
    offer = server_tools.offers.get(name)
    if offer is None:
        return TOOLS.get(name)
    policy: Policy | None = None if offer.read_only else "Patch"
    return BuiltinTool(name, offer.spec.description, catalog.McpTool, policy=policy, offer=offer)


def list_findable(context: ToolContext, server_tools: McpCatalog) -> list[ToolOffer]:
    """Return the deferred tools that this agent can load."""
    return [
        offer
        for offer in server_tools.offers.values()
        if offer.deferred and offer.name not in context.loaded_tools and _is_usable(offer, context, server_tools)
    ]


def has_policy(tool: BuiltinTool, context: ToolContext) -> bool:
    """Return True if the agent has the policy that the tool requires."""
    return tool.policy is None or tool.policy in context.policy


def list_specs(context: ToolContext, server_tools: McpCatalog = NO_SERVERS) -> tuple[ToolSpec, ...]:
    """Return the tools that this agent sees: team tools that can apply, and deferred tools once loaded."""
    builtin = tuple(
        _to_spec(tool)
        for tool in TOOLS.values()
        if is_listed(tool.name, context)
        and has_policy(tool, context)
        and tool.only_mode in {None, context.mode}
        and (tool.name not in TEAM_TOOLS or tool.name in context.teamwork)
        and tool.name != find_tools.NAME
    )
    served = tuple(
        offer.spec
        for offer in sorted(server_tools.offers.values(), key=lambda offer: offer.name)
        if _is_usable(offer, context, server_tools) and (not offer.deferred or offer.name in context.loaded_tools)
    )
    finder = (_to_spec(TOOLS[find_tools.NAME]),) if list_findable(context, server_tools) else ()
    return (*builtin, *finder, *served)


def _is_usable(offer: ToolOffer, context: ToolContext, server_tools: McpCatalog) -> bool:
    """Return True if only an approval is missing for the agent to use a server's tool."""
    cannot_change = (
        context.read_only or context.permission_mode == "planning" or context.work_globs or context.parent_globs
    )
    may_change = "Patch" in context.policy and not cannot_change
    return (
        is_listed(offer.name, context)
        and (offer.read_only or may_change)
        and not server_tools.find_outage(offer.server)
    )


@cache
def _to_spec(tool: BuiltinTool) -> ToolSpec:
    """Return the spec. It is cached, because each schema takes half a millisecond."""
    return ToolSpec(name=tool.name, description=tool.description, schema=build_schema(tool.arguments))
