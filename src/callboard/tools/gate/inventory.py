"""Availability and behaviour of every tool for one agent."""

from __future__ import annotations

from callboard.contracts.entities.tool_inventory import Availability, ToolInfo
from callboard.contracts.ports.tools import ToolContext
from callboard.contracts.team_tools import TEAM_TOOLS

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
_NOT_LISTED = "it is not among the tools of this agent"


def list_tools(context: ToolContext, there: McpCatalog = declarations.NO_SERVERS) -> tuple[ToolInfo, ...]:
    """Return every tool as this agent has it, by name. A server that never connected has one row."""
    own = [_own(kind, context, there) for kind in declarations.TOOLS.values()]
    theirs = [_theirs(one, context, there) for one in there.offers.values()]
    left_out = [
        ToolInfo(name=name, source=f"mcp:{server}", availability="excluded", reason="the settings leave it out")
        for name, server in there.excluded.items()
    ]
    unseen = [
        ToolInfo(name=f"{PREFIX}{part}__*", source=f"mcp:{server}", availability="blocked", reason=why)
        for part, (server, why) in there.missing.items()
        if not any(name.startswith(f"{PREFIX}{part}__") for name in there.offers)
    ]
    return tuple(sorted((*own, *theirs, *left_out, *unseen), key=lambda one: one.name))


def _own(kind: declarations.BuiltinTool, context: ToolContext, there: McpCatalog) -> ToolInfo:
    availability, reason = _available(kind, context, there)
    shell = kind.name == bash.NAME
    reads = kind.name in _READS or (shell and ("Patch" not in context.policy or context.read_only))
    # The decider carries out team calls, so no other call waits for them.
    at_once = reads or (kind.name in TEAM_TOOLS and kind.policy != "Patch")
    return ToolInfo(
        name=kind.name,
        source="team" if kind.name in TEAM_TOOLS else "folder",
        availability=availability,
        reason=reason,
        description=kind.description,
        read_only=reads,
        destructive=shell and not reads,
        concurrency="parallel" if at_once else "serial",
    )


def _available(kind: declarations.BuiltinTool, context: ToolContext, there: McpCatalog) -> tuple[Availability, str]:
    if kind.name == find_tools.NAME:
        return (
            ("loaded", "")
            if declarations.list_findable(context, there)
            else ("excluded", "there is nothing to look for")
        )
    if not declarations.is_listed(kind.name, context):
        return "excluded", _NOT_LISTED
    if not declarations.has_policy(kind, context):
        return "excluded", f"it takes the policy {kind.policy}, which this agent does not have"
    if kind.only_mode not in {None, context.mode}:
        return "excluded", f"it means something in {kind.only_mode} mode only"
    if kind.name in TEAM_TOOLS and kind.name not in context.teamwork:
        return "excluded", "there is nobody here that it could be for"
    return "loaded", ""


def _theirs(one: ToolOffer, context: ToolContext, there: McpCatalog) -> ToolInfo:
    availability, reason = _brought(one, context, there)
    return ToolInfo(
        name=one.name,
        source=f"mcp:{one.server}",
        availability=availability,
        reason=reason,
        description=one.spec.description,
        read_only=one.read_only,
        destructive=one.destructive,
        concurrency="parallel" if one.read_only else "serial",
        interruption="asked",
    )


def _brought(one: ToolOffer, context: ToolContext, there: McpCatalog) -> tuple[Availability, str]:
    if not declarations.is_listed(one.name, context):
        return "excluded", _NOT_LISTED
    if not one.read_only:
        if "Patch" not in context.policy:
            return "excluded", "it may change things, which takes the policy Patch"
        if context.read_only:
            return "excluded", "it may change things, and this agent only reads"
        if context.permission_mode == "planning":
            return "excluded", "it may change things, and nothing is changed while planning"
        if context.work_globs or context.parent_globs:
            return "excluded", "it may change things, and cannot be held to where this agent may write"
    if gone := there.find_outage(one.server):
        return "blocked", gone
    if one.deferred and one.name not in context.loaded_tools:
        return "deferred", f"{find_tools.NAME} loads it"
    return "loaded", ""
