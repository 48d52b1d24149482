"""Tool contexts with the folder's settings, and tool catalogs for facts."""

from __future__ import annotations

from collections import Counter

import msgspec

from callboard.contracts.content import make_blob
from callboard.contracts.entities.tool_inventory import ToolInfo
from callboard.contracts.ports.tools import ToolContext
from callboard.contracts.settings import Effective
from callboard.control.decision_inputs import ToolCatalog


def add_settings(context: ToolContext, settings: Effective) -> ToolContext:
    """Return the context with the effective settings of its folder."""
    return msgspec.structs.replace(
        context,
        trusted=settings.trusted,
        shell=settings.shell,
        servers=settings.servers,
        hooks=settings.hooks,
        changed_hooks=settings.held_back,
    )


def build_catalog(tools: tuple[ToolInfo, ...]) -> ToolCatalog:
    """Return an inventory as the catalog of a fact."""
    counts = Counter(tool.availability for tool in tools)
    return ToolCatalog(
        blob=make_blob(msgspec.json.encode(tools), "application/json"),
        loaded=counts["loaded"],
        deferred=counts["deferred"],
        blocked=counts["blocked"],
        excluded=counts["excluded"],
    )
