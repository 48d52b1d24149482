"""Which tools an agent has: every one with whether it is told of it, why not, and how it behaves."""

from __future__ import annotations

from callboard.contracts.commands.team_tools import TEAM_TOOLS
from callboard.contracts.inventory import Availability, ToolInfo
from callboard.contracts.ports.tools import ToolContext

from . import bash, kit

#: What changes nothing, whoever asks for it.
_READS = frozenset({"Finalize", "Glob", "Grep", "Read", "list_subagents"})


def of(context: ToolContext) -> tuple[ToolInfo, ...]:
    """Every tool that there is, by name, as this agent has it."""
    return tuple(_own(kind, context) for kind in sorted(kit.KINDS.values(), key=lambda kind: kind.name))


def _own(kind: kit.Kind, context: ToolContext) -> ToolInfo:
    availability, reason = _available(kind, context)
    shell = kind.name == bash.NAME
    reads = kind.name in _READS or (shell and ("Patch" not in context.policy or context.read_only))
    # What is asked of the team is carried out where it is decided, so nothing has to wait for it.
    at_once = reads or (kind.name in TEAM_TOOLS and kind.power != "Patch")
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


def _available(kind: kit.Kind, context: ToolContext) -> tuple[Availability, str]:
    if not kit.listed(kind.name, context):
        return "excluded", "it is not among the tools of this agent"
    if not kit.allowed(kind, context):
        return "excluded", f"it takes the policy {kind.power}, which this agent does not have"
    if kind.only_in not in {None, context.mode}:
        return "excluded", f"it means something in {kind.only_in} mode only"
    if kind.name in TEAM_TOOLS and kind.name not in context.teamwork:
        return "excluded", "there is nobody here that it could be for"
    return "loaded", ""
