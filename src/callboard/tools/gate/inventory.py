"""Availability and behaviour of tools for an agent."""

from __future__ import annotations

from callboard.contracts.entities.tool_inventory import Availability, ToolInfo
from callboard.contracts.ports.tools import ToolContext
from callboard.contracts.team_tools import TEAM_TOOLS
from callboard.contracts.text.sentences import to_sentence

from ..builtin import bash, declarations, find_tools
from ..mcp.names import PREFIX
from ..mcp.servers import McpCatalog
from ..mcp.tool_selection import ToolOffer

#: Tools that change nothing.
_READS = frozenset(
    {
        find_tools.NAME,
        "Finalize",
        "Glob",
        "Grep",
        "Read",
        "ReadOutput",
        "ReadProcess",
        "ask_person",
        "list_subagents",
        "propose_plan",
    }
)
_NOT_LISTED = "The agent's `tools` do not include it."


def list_tools(context: ToolContext, server_tools: McpCatalog = declarations.NO_SERVERS) -> tuple[ToolInfo, ...]:
    """Return every tool with its availability, by name. A server that never connected has one row."""
    builtin = [_describe_builtin(tool, context, server_tools) for tool in declarations.TOOLS.values()]
    served = [_describe_offer(offer, context, server_tools) for offer in server_tools.offers.values()]
    excluded = [
        ToolInfo(name=name, source=f"mcp:{server}", availability="excluded", reason="The settings exclude it.")
        for name, server in server_tools.excluded.items()
    ]
    disconnected = [
        ToolInfo(name=f"{PREFIX}{part}__*", source=f"mcp:{server}", availability="blocked", reason=to_sentence(why))
        for part, (server, why) in server_tools.missing.items()
        if not any(name.startswith(f"{PREFIX}{part}__") for name in server_tools.offers)
    ]
    return tuple(sorted((*builtin, *served, *excluded, *disconnected), key=lambda offer: offer.name))


def _describe_builtin(tool: declarations.BuiltinTool, context: ToolContext, server_tools: McpCatalog) -> ToolInfo:
    availability, reason = _check_builtin(tool, context, server_tools)
    is_shell = tool.name == bash.NAME
    only_reads = tool.name in _READS or (is_shell and ("Patch" not in context.policy or context.read_only))
    # The decider executes team calls, so no other call waits for them.
    is_parallel = only_reads or (tool.name in TEAM_TOOLS and tool.policy != "Patch")
    return ToolInfo(
        name=tool.name,
        source="team" if tool.name in TEAM_TOOLS else "folder",
        availability=availability,
        reason=reason,
        description=tool.description,
        read_only=only_reads,
        destructive=is_shell and not only_reads,
        concurrency="parallel" if is_parallel else "serial",
    )


def _check_builtin(
    tool: declarations.BuiltinTool, context: ToolContext, server_tools: McpCatalog
) -> tuple[Availability, str]:
    if tool.name == find_tools.NAME:
        return (
            ("loaded", "")
            if declarations.list_findable(context, server_tools)
            else ("excluded", "There are no deferred tools.")
        )
    if not declarations.is_listed(tool.name, context):
        return "excluded", _NOT_LISTED
    if not declarations.has_policy(tool, context):
        return "excluded", f"The agent does not have the policy {tool.policy}."
    if tool.only_mode not in {None, context.mode}:
        return "excluded", f"It is available in {tool.only_mode} mode only."
    if tool.name in TEAM_TOOLS and tool.name not in context.teamwork:
        return "excluded", "The team has no agent for it."
    return "loaded", ""


def _describe_offer(offer: ToolOffer, context: ToolContext, server_tools: McpCatalog) -> ToolInfo:
    availability, reason = _check_offer(offer, context, server_tools)
    return ToolInfo(
        name=offer.name,
        source=f"mcp:{offer.server}",
        availability=availability,
        reason=reason,
        description=offer.spec.description,
        read_only=offer.read_only,
        destructive=offer.destructive,
        concurrency="parallel" if offer.read_only else "serial",
        interruption="asked",
    )


def _check_offer(offer: ToolOffer, context: ToolContext, server_tools: McpCatalog) -> tuple[Availability, str]:
    if not declarations.is_listed(offer.name, context):
        return "excluded", _NOT_LISTED
    if not offer.read_only:
        if "Patch" not in context.policy:
            return "excluded", "It may change things, and the agent does not have the policy Patch."
        if context.read_only:
            return "excluded", "It may change things, and the agent only reads."
        if context.permission_mode == "planning":
            return "excluded", "It may change things, and the mode is planning."
        if context.work_globs or context.parent_globs:
            return "excluded", "It may change things, and cannot be confined to the agent's paths."
    if gone := server_tools.find_outage(offer.server):
        return "blocked", to_sentence(gone)
    if offer.deferred and offer.name not in context.loaded_tools:
        return "deferred", f"{find_tools.NAME} loads it when it is needed."
    return "loaded", ""
