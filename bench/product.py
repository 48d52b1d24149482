"""The product as a person starts it, `callboard up`, in a process of its own, and a client of it that costs little."""

from __future__ import annotations

import asyncio
import json
import re
import sys
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from .conversation import ANSWER, NOTES
from .processes import PATIENCE, Process

API = "/api/v1"
#: The one path that is no part of the interface.
HEALTH = "/healthz"
#: What the model says: a call of Read or of Write where the words ask for it, else a text at once.
SCENARIO = {
    "name": "bench",
    "match": [
        {
            "text": "write",
            "calls": [
                [{"tool": {"name": "Write", "arguments": {"file_path": "a.txt", "content": "hello\n"}}}],
                [{"text": ANSWER}],
            ],
        },
        {
            "text": "wait",
            "calls": [[{"text": "So far."}, {"wait_for": "never"}]],
        },
        {"text": "", "calls": [[{"text": ANSWER}]]},
    ],
}
_ID = re.compile(rb"(?:^|\n)id: ([0-9.]+)\nevent: ([a-z]+)\n")


@dataclass
class Product:
    """A running Callboard: where it answers, and its process."""

    process: Process
    host: str
    port: int
    token: str
    workspace: str

    async def page_link(self, route: str) -> str:
        """An address that opens the page once, at a place in it."""
        http = await self.connect()
        try:
            answer = await http.request("POST", "/page/links", json.dumps({"route": route}).encode())
        finally:
            http.close()
        return json.loads(answer)["link"]

    async def connect(self) -> Http:
        """A connection that is kept open between requests."""
        reader, writer = await asyncio.open_connection(self.host, self.port, limit=64 * 1024 * 1024)
        return Http(self, reader, writer)


@asynccontextmanager
async def product(place: Path, settings: str = "") -> AsyncGenerator[Product]:
    """Starts `callboard up` on `place/work`, its state in `place/home`, and ends it, without a word where it still runs. Its
    model plays the scenario, or is that of the settings."""
    process = _process(place, settings)
    async with process:
        yield await ready(process)
        if process.running:
            process.kill()


def _process(place: Path, settings: str) -> Process:
    work = place / "work"
    work.mkdir(parents=True, exist_ok=True)
    (work / "notes.md").write_text(NOTES)
    (place / "scenario.yaml").write_text(yaml.safe_dump(SCENARIO))
    command = (sys.executable, "-m", "callboard", "up", "--json", "--port", "0", "--folder", str(work))
    environment = {"CALLBOARD_HOME": str(place / "home")}
    if settings:
        (place / "home").mkdir(mode=0o700, exist_ok=True)
        (place / "home" / "settings.toml").write_text(settings)
    else:
        environment["CALLBOARD_SCENARIO"] = str(place / "scenario.yaml")
    return Process(*command, environment=environment)


async def ready(process: Process) -> Product:
    """Waits until the process says that it is ready."""
    while True:
        told = await process.told()
        if told["event"] == "ready":
            link = urlsplit(told["url"])
            token = json.loads((Path(told["home"]) / "endpoint.json").read_text())["token"]
            return Product(process, link.hostname or "", link.port or 0, token, told["workspaceId"])


@dataclass
class Http:
    """One connection. Requests come one after the other."""

    product: Product
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def command(self, name: str, **fields: Any) -> Any:
        """The answer of a command."""
        return json.loads(await self.request("POST", f"/commands/{name}", json.dumps(fields).encode()))

    async def query(self, name: str, **fields: Any) -> Any:
        """The answer of a query."""
        words = "&".join(f"{key}={value}" for key, value in fields.items())
        return json.loads(await self.request("GET", f"/queries/{name}?{words}"))

    async def until(self, session: str, true: Callable[[Any], bool]) -> Any:
        """The session's lead thread, read again and again until it is so. Raises TimeoutError."""
        async with asyncio.timeout(PATIENCE):
            while not true(read := await self.query("get_thread_read", sessionId=session)):  # noqa: ASYNC110
                await asyncio.sleep(0.002)
        return read

    async def request(self, method: str, path: str, body: bytes = b"") -> bytes:
        """The body of the answer. Raises RuntimeError where the status is not 200."""
        self._send(method, path, body)
        status, headers = await self._head()
        answer = await self.reader.readexactly(int(headers[b"content-length"]))
        if status != b"200":
            raise RuntimeError(f"{method} {path} was answered with {status.decode()}: {answer[:300].decode()}")
        return answer

    async def stream(self, path: str) -> AsyncGenerator[bytes]:
        """The chunks of a stream, as they come."""
        self._send("GET", path, b"")
        await self._head()
        while line := await self.reader.readline():
            chunk = await self.reader.readexactly(int(line, 16) + 2)
            if len(chunk) == len(b"\r\n"):
                return
            yield chunk[:-2]

    def close(self) -> None:
        self.writer.close()

    def _send(self, method: str, path: str, body: bytes) -> None:
        self.writer.write(request(self.product, method, path, body))

    async def _head(self) -> tuple[bytes, dict[bytes, bytes]]:
        async with asyncio.timeout(PATIENCE):
            first, *lines = (await self.reader.readuntil(b"\r\n\r\n")).split(b"\r\n")
        fields = (line.split(b":", 1) for line in lines if line)
        return first.split()[1], {name.lower(): value.strip() for name, value in fields}


def request(product: Product, method: str, path: str, body: bytes = b"") -> bytes:
    """The bytes of a request."""
    target = path if path == HEALTH else f"{API}{path}"
    head = (
        f"{method} {target} HTTP/1.1\r\nHost: {product.host}:{product.port}\r\nAuthorization: Bearer {product.token}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


@dataclass
class Seen:
    """When events came, on the clock that all processes share, in nanoseconds. Read afterwards: to read while they come would
    be measured."""

    chunks: list[tuple[int, bytes]] = field(default_factory=list[tuple[int, bytes]])

    def take(self, data: bytes) -> None:
        self.chunks.append((time.time_ns(), data))

    def events(self, kind: str = "ops") -> list[tuple[str, int]]:
        """The ids of the events of a kind, with the time at which the chunk that begins them came."""
        whole = b"".join(data for _, data in self.chunks)
        # The frames of HTTP's chunks stand between events, never within the two lines that are looked for.
        found: list[tuple[str, int]] = []
        ends: list[tuple[int, int]] = []
        at = 0
        for time_ns, data in self.chunks:
            at += len(data)
            ends.append((at, time_ns))
        index = 0
        for match in _ID.finditer(whole):
            while ends[index][0] <= match.start():
                index += 1
            if match[2].decode() == kind:
                found.append((match[1].decode(), ends[index][1]))
        return found
