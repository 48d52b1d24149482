"""Server-sent events to clients of any speed.

A client has no queue: what it is not ready to take stays where it is, in the log or in a ring, until its socket takes more.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from starlette.types import Message, Receive, Scope, Send

_STILL_THERE = b":\n\n"
_START: Message = {
    "type": "http.response.start",
    "status": 200,
    "headers": [(b"content-type", b"text/event-stream; charset=utf-8")],
}
T = TypeVar("T")


class SseResponses:
    """The streams that are open. All of them end, at once, when the server stops."""

    def __init__(self, keep_alive: float) -> None:
        self._keep_alive = keep_alive
        self._ending = asyncio.Event()

    def end(self) -> None:
        """Ends every stream, and those that are opened from now on as soon as they are."""
        self._ending.set()

    def respond(self, chunks: AsyncIterator[bytes]) -> SseResponse:
        """The answer that writes these chunks, each one or more whole events."""
        return SseResponse(chunks, self._ending, self._keep_alive)


class SseResponse:
    """One answer. The chunks are no longer asked for once the client has gone or the server stops."""

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
        ends += (asyncio.create_task(_gone(receive)), asyncio.create_task(self._ending.wait()))
        beat = asyncio.create_task(self._beat(send))
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (*ends, beat):
                task.cancel()
            await asyncio.gather(*ends, beat, return_exceptions=True)
        if not pump.cancelled():
            pump.result()

    async def _pump(self, send: Send) -> None:
        async with closing(self._chunks) as chunks:
            async for chunk in chunks:
                await self._write(send, chunk)
                # Not kept while nothing comes: it may be a whole snapshot.
                del chunk

    async def _beat(self, send: Send) -> None:
        while True:
            before = self._written
            await asyncio.sleep(self._keep_alive)
            if self._written == before and not self._writing:
                await self._write(send, _STILL_THERE)

    async def _write(self, send: Send, chunk: bytes) -> None:
        self._writing = True
        await send({"type": "http.response.body", "body": chunk, "more_body": True})
        self._writing = False
        self._written += 1


@asynccontextmanager
async def closing(source: AsyncIterator[T]) -> AsyncGenerator[AsyncIterator[T]]:
    """The source, told at the end that nothing more is wanted of it."""
    try:
        yield source
    finally:
        if isinstance(source, AsyncGenerator):
            await source.aclose()


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
