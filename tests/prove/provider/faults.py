"""A proxy before a model server that adds the errors of networks and providers to its answers.

The turn's text names the error, `fault:NAME`. It applies to the first answers of that turn, and the
others pass unchanged. The proxy truncates, delays and splits the server's own bytes.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

_NAMED = re.compile(rb"fault:(\w+)")
_SIZE = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
_HEAD_ENDS = b"\r\n\r\n"


class Channel:
    """The connection to the client."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def send(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    def reset(self) -> None:
        """Reset the connection."""
        transport: Any = self._writer.transport
        transport.abort()

    async def left(self) -> None:
        """Wait until the client has gone."""
        await self._reader.read()


Play = Callable[[Channel, bytes], Awaitable[None]]


@dataclass(frozen=True)
class Fault:
    """A change of the first `times` answers, which gets all the bytes of each."""

    play: Play
    times: int = 1


class Proxy:
    """A proxy of one server. `asked` counts the requests by fault, `answers` are complete answers."""

    def __init__(self, target: str) -> None:
        self._target = urlsplit(target)
        self._server: asyncio.Server | None = None
        self.faults: dict[str, Fault] = {}
        self.requests: Counter[str] = Counter()
        self.url = ""

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=1 << 22)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def stop(self) -> None:
        if self._server is not None:
            self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(_HEAD_ENDS)
            size = _SIZE.search(head)
            body = await reader.readexactly(int(size[1])) if size else b""
            answer = await self._forward(head, body)
            named = _NAMED.search(body)
            name = named[1].decode() if named else ""
            self.requests[name] += 1
            fault = self.faults.get(name)
            channel = Channel(reader, writer)
            if fault is not None and self.requests[name] <= fault.times:
                await fault.play(channel, answer)
            else:
                await channel.send(answer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _forward(self, head: bytes, body: bytes) -> bytes:
        """Return the server's whole answer, with its head and framing.

        Each connection is for one request.
        """
        reader, writer = await asyncio.open_connection(self._target.hostname, self._target.port, limit=1 << 22)
        try:
            writer.write(_closing(head) + body)
            await writer.drain()
            answered = _closing(await reader.readuntil(_HEAD_ENDS))
            size = _SIZE.search(answered)
            if size is not None:
                return answered + await reader.readexactly(int(size[1]))
            while True:
                line = await reader.readuntil(b"\r\n")
                answered += line + await reader.readexactly(int(line, 16) + 2)
                if not int(line, 16):
                    return answered
        finally:
            writer.close()


def _closing(head: bytes) -> bytes:
    lines = [line for line in head.split(b"\r\n") if line and not line.lower().startswith(b"connection:")]
    return b"\r\n".join([*lines, b"Connection: close"]) + _HEAD_ENDS


def unframed(answer: bytes) -> bytes:
    """Return the answer without framing: its end is the end of the connection, so a truncation is
    not visible.
    """
    head, _, rest = answer.partition(_HEAD_ENDS)
    body = b""
    while rest:
        size, _, rest = rest.partition(b"\r\n")
        body += rest[: int(size, 16)]
        rest = rest[int(size, 16) + 2 :]
    lines = [line for line in head.split(b"\r\n") if not line.lower().startswith(b"transfer-encoding:")]
    return b"\r\n".join(lines) + _HEAD_ENDS + body


def cut(place: int, *, rude: bool = False, framed: bool = True) -> Play:
    """End the connection after this many bytes, with a close or a reset."""

    async def play(channel: Channel, answer: bytes) -> None:
        await channel.send((answer if framed else unframed(answer))[:place])
        if rude:
            channel.reset()

    return play


def cut_at(share: float) -> Play:
    """End the connection after a share of the answer's body."""

    async def play(channel: Channel, answer: bytes) -> None:
        head = answer.index(_HEAD_ENDS) + len(_HEAD_ENDS)
        await channel.send(answer[: head + int((len(answer) - head) * share)])

    return play


def refusal(status: str, body: str = '{"error": {"message": "planted"}}', *headers: str) -> Play:
    """Send another status in place of the answer."""
    return document(status, "application/json", body, *headers)


def document(status: str, media: str, body: str, *headers: str) -> Play:
    """Send a complete document in place of the answer."""
    size = f"content-length: {len(body.encode())}"
    lines = [f"HTTP/1.1 {status}", f"content-type: {media}", size, "connection: close", *headers]

    async def play(channel: Channel, _: bytes) -> None:
        await channel.send("\r\n".join(lines).encode() + _HEAD_ENDS + body.encode())

    return play


def stream(body: bytes) -> Play:
    """Send a stream of events with other content, which ends normally."""
    lines = ["HTTP/1.1 200 OK", "content-type: text/event-stream", f"content-length: {len(body)}", "connection: close"]

    async def play(channel: Channel, _: bytes) -> None:
        await channel.send("\r\n".join(lines).encode() + _HEAD_ENDS + body)

    return play


def under(media: bytes) -> Play:
    """Send the answer with another media type."""

    async def play(channel: Channel, answer: bytes) -> None:
        await channel.send(re.sub(rb"(?i)content-type: [^\r]*", b"content-type: " + media, answer, count=1))

    return play


def dribble(seconds: float, pieces: int = 60) -> Play:
    """Send the answer in small pieces, over this many seconds."""

    async def play(channel: Channel, answer: bytes) -> None:
        size = len(answer) // pieces + 1
        for start in range(0, len(answer), size):
            await channel.send(answer[start : start + size])
            await asyncio.sleep(seconds / pieces)

    return play


async def silence(channel: Channel, _: bytes) -> None:
    """Send nothing."""
    await channel.left()


async def falls_silent(channel: Channel, answer: bytes) -> None:
    """Send half of the answer, and then nothing."""
    await channel.send(answer[: len(answer) // 2])
    await channel.left()
