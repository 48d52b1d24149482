"""HTTP/1.1 and server-sent events over plain sockets, so that a client can be as slow and rude as
needed.
"""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import urlsplit

API = "/api/v1"


class Gone(Exception):
    """The server went away in the middle."""


class Event(NamedTuple):
    """One server-sent event. `identity` is empty if it has no id."""

    identity: str
    name: str
    data: Any


class Answer(NamedTuple):
    status: int
    body: Any


class Parser:
    """A parser of events from bytes in pieces of any size."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[Event]:
        """Return the events that are complete now."""
        *whole, self._rest = (self._rest + data).split(b"\n\n")
        return [event for block in whole if (event := _event(block)) is not None]

    @property
    def half(self) -> bool:
        """Return True in the middle of an event."""
        return bool(self._rest)


def _event(block: bytes) -> Event | None:
    fields: dict[str, str] = {}
    for line in block.decode().split("\n"):
        name, colon, value = line.partition(": ")
        if colon and name:
            fields[name] = value
    if "data" not in fields:
        return None
    return Event(fields.get("id", ""), fields.get("event", ""), json.loads(fields["data"]))


class Body:
    """The body of an open answer. `read` returns decoded bytes, empty at the end."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, chunked: bool) -> None:
        self._reader = reader
        self._writer = writer
        self._chunked = chunked
        self._left = 0

    async def read(self, most: int) -> bytes:
        """Read at most this many bytes; empty at the end of the answer.

        Raises:
            Gone: The answer was truncated.
        """
        try:
            if not self._chunked:
                return await self._reader.read(most)
            if self._left == 0:
                self._left = int(await self._line(), 16)
                if self._left == 0:
                    return b""
            data = await self._reader.read(min(most, self._left))
            if not data:
                raise Gone("the stream was cut")
            self._left -= len(data)
            if self._left == 0:
                await self._line()
        except (ConnectionError, asyncio.IncompleteReadError, ValueError) as error:
            raise Gone(str(error)) from error
        return data

    def abort(self) -> None:
        """Drop the connection without a message."""
        transport: Any = self._writer.transport
        transport.abort()

    async def _line(self) -> bytes:
        line = await self._reader.readuntil(b"\r\n")
        return line.strip()


@dataclass
class Wire:
    """The address of a server, and its token."""

    url: str
    token: str

    async def post(self, command: str, body: dict[str, Any], key: str = "") -> Answer:
        """Send a command.

        Raises:
            Gone: No answer arrived.
        """
        return await self._ask("POST", f"{API}/commands/{command}", json.dumps(body).encode(), key)

    async def page_link(self, route: str = "") -> str:
        """Return an address that opens the page once, at a route."""
        answer = await self._ask("POST", f"{API}/page/links", json.dumps({"route": route}).encode())
        return str(answer.body["link"])

    async def get(self, path: str) -> Answer:
        """Read a route of the API.

        Raises:
            Gone: No answer arrived.
        """
        return await self._ask("GET", f"{API}{path}")

    async def events(self, path: str, last: str = "", *, until_gone: bool = True) -> AsyncGenerator[Event]:
        """Yield the events of a stream to its end.

        A truncated stream ends normally. With `until_gone=False` it raises Gone.
        """
        parser = Parser()
        try:
            async with self.stream(path, last) as body:
                while data := await body.read(1 << 16):
                    for event in parser.feed(data):
                        yield event
        except Gone:
            if not until_gone:
                raise

    @asynccontextmanager
    async def stream(self, path: str, last: str = "", *, buffer: int = 0) -> AsyncGenerator[Body]:
        """Return a stream's body. `last` is the Last-Event-ID, `buffer` the bytes that the socket
        accepts in advance.

        Raises:
            Gone: No answer arrived.
        """
        more = {"Last-Event-ID": last} if last else {}
        reader, writer = await self._open(buffer)
        body: Body | None = None
        try:
            status, headers = await self._head(reader, writer, "GET", f"{API}{path}", b"", more)
            body = Body(reader, writer, "chunked" in headers.get("transfer-encoding", ""))
            if status != 200:
                raise AssertionError(f"{path} answered {status}: {(await body.read(2000)).decode()}")
            yield body
        except ConnectionError as error:
            raise Gone(str(error)) from error
        finally:
            transport: Any = writer.transport
            transport.abort()

    async def _ask(self, method: str, path: str, body: bytes = b"", key: str = "") -> Answer:
        more = {"Connection": "close", "Content-Type": "application/json"}
        if key:
            more["Idempotency-Key"] = key
        reader, writer = await self._open(0)
        try:
            status, headers = await self._head(reader, writer, method, path, body, more)
            data = await reader.readexactly(int(headers["content-length"]))
            return Answer(status, json.loads(data))
        except (ConnectionError, asyncio.IncompleteReadError) as error:
            raise Gone(str(error)) from error
        finally:
            transport: Any = writer.transport
            transport.abort()

    async def _open(self, buffer: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        place = urlsplit(self.url)
        try:
            if not buffer:
                return await asyncio.open_connection(place.hostname, place.port)
            slow = socket.socket()
            slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
            slow.setblocking(False)
            await asyncio.get_running_loop().sock_connect(slow, (place.hostname, place.port))
            return await asyncio.open_connection(sock=slow, limit=buffer)
        except OSError as error:
            raise Gone(str(error)) from error

    async def _head(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        method: str,
        path: str,
        body: bytes,
        more: dict[str, str],
    ) -> tuple[int, dict[str, str]]:
        sent = {"Host": urlsplit(self.url).netloc, "Authorization": f"Bearer {self.token}", **more}
        if body:
            sent["Content-Length"] = str(len(body))
        lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in sent.items()), "", ""]
        writer.write("\r\n".join(lines).encode() + body)
        await writer.drain()
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        except asyncio.IncompleteReadError as error:
            raise Gone("no answer") from error
        headers = dict(line.lower().split(": ", 1) for line in head[1:] if line)
        return int(head[0].split()[1]), headers
