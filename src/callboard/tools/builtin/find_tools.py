"""The tool FindTools: a search that loads deferred tools."""

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
    "Search for more tools by name and purpose. Most tools are hidden until you find them. After the search you can call the "
    "tools that it returns."
)
#: Maximum number of tools that one search loads.
MAX_TOOLS = 10


class FindToolsArguments(Arguments, frozen=True, kw_only=True):
    """Arguments of FindTools."""

    query: Annotated[str, Meta(description="Purpose of the tool, in a few words.", min_length=1, max_length=500)]


def find(arguments: FindToolsArguments, deferred: Iterable[ToolOffer]) -> ToolOutcome:
    """Load the tools whose name or description has most of the words, best first."""
    words = set(arguments.query.casefold().split())
    matches = sorted(
        ((-_score(words, offer), offer.name, offer) for offer in deferred if _score(words, offer)),
        key=lambda best: best[:2],
    )
    best = [offer for _, _, offer in matches[:MAX_TOOLS]]
    if not best:
        return ToolOutcome(output="No tool matches. Try other or fewer words.")
    lines = "\n".join(f"- {offer.name}: {' '.join(offer.spec.description.split())[:300]}" for offer in best)
    more = (
        f"\n\n{len(matches) - MAX_TOOLS} more match; use more specific words to find them."
        if len(matches) > MAX_TOOLS
        else ""
    )
    return ToolOutcome(
        output=f"You can now call these tools:\n{lines}{more}", loaded_tools=tuple(offer.name for offer in best)
    )


def _score(words: set[str], offer: ToolOffer) -> int:
    """Score a tool. A word in the name counts more than one in the description."""
    name, description = offer.name.casefold(), offer.spec.description.casefold()
    return sum(3 if word in name else 1 if word in description else 0 for word in words)
