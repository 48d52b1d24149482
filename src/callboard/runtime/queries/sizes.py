"""How much room sessions take, for whoever wants some back."""

from __future__ import annotations

from callboard.contracts.commands.sizes import SessionSize, SizeList
from callboard.contracts.ports.store import FactLog


async def measure_sizes(facts: FactLog) -> SizeList:
    """Those of all sessions, in the order in which they began."""
    found: list[SessionSize] = []
    for stream in await facts.streams("ses_"):
        held = await facts.contents(stream)
        found.append(SessionSize(session_id=stream, facts=held.facts, blobs=held.blobs, contents=held.size))
    return SizeList(sizes=tuple(found))
