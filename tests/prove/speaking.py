"""What the product says of a session beside its rows: the events of the Subagents specification, and its task snapshots.

`python -m tests.prove.speaking STORE SESSION` reads a store and writes one JSON object. It is the product, like `planted`, in a
process of its own: what it says is compared by code that shares nothing with it.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import msgspec

from callboard.log.sqlite.store import open_store
from callboard.projection.emit.subagents import SubagentEvents
from callboard.projection.snapshot import task_snapshots


async def say(folder: Path, session: str) -> bytes:
    """The events and the snapshots."""
    store = open_store(folder, read_only=True)
    try:
        records = await store.facts.read(session, limit=1_000_000)
    finally:
        await store.close()
    events = SubagentEvents()
    said = {"events": [event for record in records for event in events.apply(record)], "tasks": task_snapshots(records)}
    return msgspec.json.encode(said)


if __name__ == "__main__":
    sys.stdout.buffer.write(asyncio.run(say(Path(sys.argv[1]), sys.argv[2])))
