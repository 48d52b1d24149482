"""Long sessions in the store of a product that is not running."""

from __future__ import annotations

import asyncio
from pathlib import Path

from .history import History
from .product import product


async def build(place: Path, told: History, sessions: dict[str, int]) -> None:
    """Writes the sessions into the product's store, in a process that has not served anything."""
    from callboard.log.sqlite.store import open_store

    async with product(place) as running:
        workspace = running.workspace
    home = place / "home" / "store"
    store = open_store(home)
    for session, count in sessions.items():
        first = told.first(session, store.epoch, workspace)
        await store.facts.append(first)
        after, pending = len(first.facts), []
        for batch in told.turns(session, store.epoch, after, max(1, count // told.facts)):
            pending.append(asyncio.ensure_future(store.facts.append(batch)))
            if len(pending) == 500:
                await asyncio.gather(*pending)
                pending = []
        await asyncio.gather(*pending)
    await store.close()
