"""Writing of long sessions to the store of a stopped product."""

from __future__ import annotations

import asyncio
from pathlib import Path

from bench.rigs.history import History
from bench.rigs.product import product
from callboard.log.sqlite.store import open_store


async def build(folder: Path, turn_history: History, sessions: dict[str, int]) -> None:
    """Write the sessions to the product's store."""
    async with product(folder) as running:
        workspace = running.workspace
    await write(folder / "home" / "store", workspace, turn_history, sessions)


async def write(home: Path, workspace: str, turn_history: History, sessions: dict[str, int]) -> None:
    """Write sessions of about these numbers of facts to a store that no runtime has open: recovery reads each stream."""
    store = open_store(home)
    for session, count in sessions.items():
        first = turn_history.first(session, store.epoch, workspace)
        await store.facts.append(first)
        after, pending = len(first.facts), []
        for batch in turn_history.turns(session, store.epoch, after, max(1, count // turn_history.facts)):
            pending.append(asyncio.ensure_future(store.facts.append(batch)))
            if len(pending) == 500:
                await asyncio.gather(*pending)
                pending = []
        await asyncio.gather(*pending)
    await store.close()
