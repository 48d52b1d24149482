"""Process with many viewers of one stream: `python -m bench.workers.viewers HOST PORT COUNT`.

The first line of stdin is the request. It reports when all viewers have their first bytes. At the next line it answers with
[id, nanoseconds] of each event of each viewer.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable

import uvloop

from bench.rigs.product import Arrivals


class _Viewer(asyncio.Protocol):
    def __init__(self, request: bytes) -> None:
        self._request = request
        self.arrivals = Arrivals()
        self.began = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are not instances of asyncio's classes.
        write: Callable[[bytes], None] = getattr(transport, "write")  # noqa: B009
        write(self._request)

    def data_received(self, data: bytes) -> None:
        self.arrivals.take(data)
        self.began.set()


async def watch(host: str, port: int, count: int) -> None:
    """Follow the stream until the next line of stdin."""
    loop = asyncio.get_running_loop()
    request = json.loads(sys.stdin.readline())["request"].encode()
    viewers = [_Viewer(request) for _ in range(count)]
    for viewer in viewers:
        await loop.create_connection(lambda viewer=viewer: viewer, host, port)
    await asyncio.gather(*(viewer.began.wait() for viewer in viewers))
    print(json.dumps("watching"), flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    print(json.dumps([viewer.arrivals.events() for viewer in viewers]), flush=True)


if __name__ == "__main__":
    uvloop.run(watch(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
