"""FindTools: find and load deferred tools."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from msgspec import Meta

from callboard.contracts.entities.arguments import Arguments
from callboard.contracts.ports.tools import ToolOutcome
from callboard.contracts.tools import FIND_TOOLS

from ..mcp.tool_selection import ToolOffer

NAME = FIND_TOOLS
DESCRIPTION = (
    "Find more tools by name and purpose. You can call the tools that it returns from then on. Most tools are hidden until "
    "you find them."
)
#: Maximum number of tools that one search loads.
MOST = 10


class FindToolsArguments(Arguments, frozen=True, kw_only=True):
    """Arguments of FindTools."""

    query: Annotated[str, Meta(description="Purpose of the tool, in a few words.", min_length=1, max_length=500)]


def find(asked: FindToolsArguments, deferred: Iterable[ToolOffer]) -> ToolOutcome:
    """Load the tools whose name or description has most of the words, best first."""
    words = set(asked.query.casefold().split())
    ranked = sorted(
        ((-_fit(words, one), one.name, one) for one in deferred if _fit(words, one)), key=lambda found: found[:2]
    )
    found = [one for _, _, one in ranked[:MOST]]
    if not found:
        return ToolOutcome(output="No tool fits these words. Try others, or fewer.")
    told = "\n".join(f"- {one.name}: {' '.join(one.spec.description.split())[:300]}" for one in found)
    more = f"\n\n{len(ranked) - MOST} more fit; say it more exactly to find them." if len(ranked) > MOST else ""
    return ToolOutcome(
        output=f"You can call these from now on:\n{told}{more}", loaded_tools=tuple(one.name for one in found)
    )


def _fit(words: set[str], one: ToolOffer) -> int:
    """Return how well a tool fits. A word in the name weighs more than one in the description."""
    name, description = one.name.casefold(), one.spec.description.casefold()
    return sum(3 if word in name else 1 if word in description else 0 for word in words)
