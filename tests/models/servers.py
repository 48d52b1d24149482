"""Servers of providers' formats over HTTP: the third-party aimock, and one that plays faults."""

from __future__ import annotations

import asyncio
import json
import urllib.request
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

from callboard.models.wire import Endpoint, Format, WireModel
from tests.prove.provider.server import started

FIXTURES = Path(__file__).parent / "aimock.json"
KEY = "sk-a-key-that-must-not-leak"
#: Each connection is for one request.
CLOSE_HEADER = "connection: close"


class Aimock:
    """A running aimock. `base_url` is the base URL of its provider."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.base_url = f"{url}/v1"

    def endpoint(self, format: Format, **more: Any) -> Endpoint:
        """Return aimock as an endpoint of the format."""
        address = self.base_url if format.startswith("openai") else self.url
        return Endpoint(**{"provider": "mock", "base_url": address, "api_key": KEY, "format": format, **more})

    def last_request(self) -> dict[str, Any]:
        """Return the body of the newest completion request."""
        journal = urllib.request.Request(f"{self.url}/__aimock/journal", headers={"Authorization": f"Bearer {KEY}"})
        with urllib.request.urlopen(journal) as answer:
            entries = json.load(answer)
        return next(entry["body"] for entry in reversed(entries) if entry["path"] == "/v1/chat/completions")


@contextmanager
def aimock() -> Iterator[Aimock]:
    """Start an aimock that requires the key."""
    arguments = ("--port", "0", "--fixtures", FIXTURES, "--strict", "--chunk-size", "7")
    with started(*arguments, AIMOCK_API_KEYS=KEY) as address:
        yield Aimock(address)


Play = Callable[["Exchange"], Awaitable[None]]


class Exchange:
    """A request to the fault server, and methods that answer it."""

    def __init__(self, path: str, headers: dict[str, str], body: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        self.path = path
        self.headers = headers
        self.body = body
        self._writer = writer

    async def send(self, text: str) -> None:
        await self.send_bytes(text.encode())

    async def send_bytes(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    async def status(self, line: str, body: str = "", *headers: str, media: str = "application/json") -> None:
        lines = [
            f"HTTP/1.1 {line}",
            f"content-type: {media}",
            f"content-length: {len(body.encode())}",
            CLOSE_HEADER,
            *headers,
        ]
        await self.send("\r\n".join(lines) + "\r\n\r\n" + body)

    async def begin_stream(self, *headers: str) -> None:
        """Begin a chunked answer. Without its last chunk, the client sees a broken connection."""
        lines = [
            "HTTP/1.1 200 OK",
            "content-type: text/event-stream",
            "transfer-encoding: chunked",
            CLOSE_HEADER,
            *headers,
        ]
        await self.send("\r\n".join(lines) + "\r\n\r\n")

    async def raw(self, text: str) -> None:
        await self.send(f"{len(text.encode()):x}\r\n{text}\r\n")

    async def event(self, data: Any, name: str = "") -> None:
        named = f"event: {name}\n" if name else ""
        await self.raw(f"{named}data: {data if isinstance(data, str) else json.dumps(data)}\n\n")

    async def text(self, text: str, **choice: Any) -> None:
        await self.delta({"content": text}, **choice)

    async def delta(self, delta: dict[str, Any], **choice: Any) -> None:
        choices = [{"index": 0, "delta": delta, "finish_reason": None, **choice}]
        await self.event(
            {"id": "r1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": choices}
        )

    async def end_stream(self) -> None:
        await self.send("0\r\n\r\n")

    def reset(self) -> None:
        """Reset the connection."""
        self._writer.transport.abort()


class FaultServer:
    """A server that plays one fault for every request.

    A request sets `requested`. A client that leaves before the end of its answer sets `client_left`.
    """

    def __init__(self, play: Play) -> None:
        self.exchanges: list[Exchange] = []
        self.requested = asyncio.Event()
        self.client_left = asyncio.Event()
        self.base_url = ""
        self._play = play

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)}
            body = json.loads(await reader.readexactly(int(headers["content-length"])))
            exchange = Exchange(head[0].split(" ")[1].partition("?")[0], headers, body, writer)
            self.exchanges.append(exchange)
            self.requested.set()
            leaves = asyncio.create_task(self._wait_until_gone(reader))
            plays = asyncio.ensure_future(self._play(exchange))
            await asyncio.wait({leaves, plays}, return_when=asyncio.FIRST_COMPLETED)
            for task in (leaves, plays):
                task.cancel()
            await asyncio.gather(leaves, plays, return_exceptions=True)
        finally:
            writer.close()

    async def _wait_until_gone(self, reader: asyncio.StreamReader) -> None:
        with suppress(ConnectionError):
            await reader.read()
        self.client_left.set()


@asynccontextmanager
async def fault_server(play: Play) -> AsyncIterator[FaultServer]:
    faults = FaultServer(play)
    server = await asyncio.start_server(faults.handle, "127.0.0.1", 0)
    faults.base_url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    try:
        yield faults
    finally:
        server.close()
        await server.wait_closed()


@asynccontextmanager
async def connect_model(play: Play, **endpoint: Any) -> AsyncIterator[tuple[WireModel, FaultServer]]:
    """Yield a model, and its server, which plays this for every request."""
    name = endpoint.pop("name", "m")
    async with fault_server(play) as server:
        address = server.base_url if endpoint.get("format") != "google" else server.base_url.removesuffix("/v1")
        model = WireModel(Endpoint(**{"provider": "faulty", "base_url": address, "api_key": KEY, **endpoint}), name)
        try:
            yield model, server
        finally:
            await model.close()
