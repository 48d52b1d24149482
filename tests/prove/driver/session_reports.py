"""Events of the Subagents specification and task snapshots of a session, as the product reports
them.

`python -m tests.prove.driver.session_reports STORE SESSION` reads a store and writes one JSON
object. It runs the product's code in its own process, like `sabotages`, so that a proof shares no
code with it.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import msgspec

from callboard.log.sqlite.store import open_store
from callboard.projection.emit.subagents import SubagentEvents
from callboard.projection.snapshot import build_task_snapshots


async def say(folder: Path, session: str) -> bytes:
    """Return the events and the snapshots."""
    store = open_store(folder, read_only=True)
    try:
        records = await store.facts.read(session, limit=1_000_000)
    finally:
        await store.close()
    events = SubagentEvents()
    report = {
        "events": [event for record in records for event in events.apply(record)],
        "tasks": build_task_snapshots(records),
    }
    return msgspec.json.encode(report)


if __name__ == "__main__":
    sys.stdout.buffer.write(asyncio.run(say(Path(sys.argv[1]), sys.argv[2])))
