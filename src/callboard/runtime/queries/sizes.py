"""The query for the storage size of sessions."""

from __future__ import annotations

from callboard.contracts.commands.session import SessionSize, SizeList
from callboard.contracts.ports.store import FactLog


async def measure_sizes(facts: FactLog) -> SizeList:
    """Return the sizes of all sessions, in the order in which they began."""
    sizes: list[SessionSize] = []
    for stream in await facts.streams("ses_"):
        contents = await facts.contents(stream)
        sizes.append(SessionSize(session_id=stream, facts=contents.facts, blobs=contents.blobs, contents=contents.size))
    return SizeList(sizes=tuple(sizes))
