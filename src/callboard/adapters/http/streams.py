"""Responses of server-sent events.

Clients have no queue: if a client is slow, its events stay in the log or in a ring until its socket accepts more.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from starlette.types import Message, Receive, Scope, Send

_KEEP_ALIVE = b":\n\n"
_START: Message = {
    "type": "http.response.start",
    "status": 200,
    "headers": [(b"content-type", b"text/event-stream; charset=utf-8")],
}
T = TypeVar("T")


class SseResponses:
    """The open event streams of a server. All end when the server stops."""

    def __init__(self, keep_alive: float) -> None:
        self._keep_alive = keep_alive
        self._ending = asyncio.Event()

    def end(self) -> None:
        """End all streams, and all later ones as soon as they start."""
        self._ending.set()

    def respond(self, chunks: AsyncIterator[bytes]) -> SseResponse:
        """Return a response that sends the chunks. Each chunk is one or more complete events."""
        return SseResponse(chunks, self._ending, self._keep_alive)


class SseResponse:
    """One event stream. It ends when the client disconnects or the server stops."""

    def __init__(self, chunks: AsyncIterator[bytes], ending: asyncio.Event, keep_alive: float) -> None:
        self._chunks = chunks
        self._ending = ending
        self._keep_alive = keep_alive
        self._written = 0
        self._writing = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send(_START)
        if scope["method"] != "HEAD":
            await self._run(receive, send)
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _run(self, receive: Receive, send: Send) -> None:
        pump = asyncio.create_task(self._pump(send))
        ends: list[asyncio.Task[Any]] = [pump]
        ends += (asyncio.create_task(_wait_for_disconnect(receive)), asyncio.create_task(self._ending.wait()))
        keep_alive = asyncio.create_task(self._send_keep_alive(send))
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (*ends, keep_alive):
                task.cancel()
            await asyncio.gather(*ends, keep_alive, return_exceptions=True)
        if not pump.cancelled():
            pump.result()

    async def _pump(self, send: Send) -> None:
        async with close_at_end(self._chunks) as chunks:
            async for chunk in chunks:
                await self._write(send, chunk)
                # Free the chunk before waiting for the next one: it may be a whole snapshot.
                del chunk

    async def _send_keep_alive(self, send: Send) -> None:
        while True:
            before = self._written
            await asyncio.sleep(self._keep_alive)
            if self._written == before and not self._writing:
                await self._write(send, _KEEP_ALIVE)

    async def _write(self, send: Send, chunk: bytes) -> None:
        self._writing = True
        await send({"type": "http.response.body", "body": chunk, "more_body": True})
        self._writing = False
        self._written += 1


@asynccontextmanager
async def close_at_end(source: AsyncIterator[T]) -> AsyncGenerator[AsyncIterator[T]]:
    """Close the source at the end of the block if it is a generator."""
    try:
        yield source
    finally:
        if isinstance(source, AsyncGenerator):
            await source.aclose()


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
