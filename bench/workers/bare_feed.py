"""Minimal durable feed, as a baseline: `python -m bench.workers.bare_feed FOLDER RATE SIZE`.

Accepts connections. At each `{"seconds": s}` it commits a row RATE times a second (SQLite, synchronous=FULL, in a thread)
and then writes an event of SIZE bytes to every connection. An event's id is the microsecond before its commit, and `.0`.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import sys
import time
from pathlib import Path

import uvloop


async def serve(folder: Path, rate: float, size: int) -> None:
    """Execute orders until the input ends."""
    database = sqlite3.connect(folder / "bare.db", isolation_level=None, check_same_thread=False)
    database.execute("PRAGMA journal_mode = WAL").fetchall()
    database.execute("PRAGMA synchronous = FULL")
    database.execute("CREATE TABLE facts (at INTEGER PRIMARY KEY, payload BLOB)")
    viewers: list[asyncio.StreamWriter] = []

    async def joined(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
        viewers.append(writer)

    server = await asyncio.start_server(joined, "127.0.0.1", 0)
    print(json.dumps(server.sockets[0].getsockname()[1]), flush=True)
    filling = b"x" * size
    while line := await asyncio.to_thread(sys.stdin.readline):
        began = time.monotonic()
        for number in range(int(rate * json.loads(line)["seconds"])):
            await asyncio.sleep(began + number / rate - time.monotonic())
            at = time.time_ns() // 1000
            await asyncio.to_thread(database.execute, "INSERT OR IGNORE INTO facts VALUES (?, ?)", (at, filling))
            event = b"\nid: %d.0\nevent: ops\ndata: %s\n\n" % (at, filling)
            for viewer in viewers:
                viewer.write(event)
        print(json.dumps("done"), flush=True)


if __name__ == "__main__":
    uvloop.run(serve(Path(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])))
