"""The real product, `callboard up`, in its own process, and a lightweight client."""

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

from bench.rigs.conversation import ANSWER, NOTES
from bench.rigs.processes import PATIENCE, Process

API = "/api/v1"
#: The only path outside the API.
HEALTH = "/healthz"
#: The model's answers: a call of Read or Write if the prompt requests it, else a text.
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
    """A running Callboard: its address and its process."""

    process: Process
    host: str
    port: int
    token: str
    workspace: str

    async def page_link(self, route: str) -> str:
        """Create an address that opens the page once, at a route."""
        http = await self.connect()
        try:
            answer = await http.request("POST", "/page/links", json.dumps({"route": route}).encode())
        finally:
            http.close()
        return json.loads(answer)["link"]

    async def connect(self) -> Http:
        """Open a persistent connection."""
        reader, writer = await asyncio.open_connection(self.host, self.port, limit=64 * 1024 * 1024)
        return Http(self, reader, writer)


@asynccontextmanager
async def product(folder: Path, settings: str = "") -> AsyncGenerator[Product]:
    """Run `callboard up` on `place/work`, with the state in `place/home`; kill it at the end.

    Its model plays the scenario, or comes from the settings.
    """
    process = _process(folder, settings)
    async with process:
        yield await ready(process)
        if process.running:
            process.kill()


def _process(folder: Path, settings: str) -> Process:
    work = folder / "work"
    work.mkdir(parents=True, exist_ok=True)
    (work / "notes.md").write_text(NOTES)
    (folder / "scenario.yaml").write_text(yaml.safe_dump(SCENARIO))
    command = (sys.executable, "-m", "callboard", "up", "--json", "--port", "0", "--folder", str(work))
    environment = {"CALLBOARD_HOME": str(folder / "home")}
    if settings:
        (folder / "home").mkdir(mode=0o700, exist_ok=True)
        (folder / "home" / "settings.toml").write_text(settings)
    else:
        environment["CALLBOARD_SCENARIO"] = str(folder / "scenario.yaml")
    return Process(*command, environment=environment)


async def ready(process: Process) -> Product:
    """Wait until the process reports that it is ready."""
    while True:
        milestone = await process.read_line()
        if milestone["event"] == "ready":
            link = urlsplit(milestone["url"])
            token = json.loads((Path(milestone["home"]) / "endpoint.json").read_text())["token"]
            return Product(process, link.hostname or "", link.port or 0, token, milestone["workspaceId"])


@dataclass
class Http:
    """A connection with sequential requests."""

    product: Product
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def command(self, name: str, **fields: Any) -> Any:
        """Submit a command; return the answer."""
        return json.loads(await self.request("POST", f"/commands/{name}", json.dumps(fields).encode()))

    async def query(self, name: str, **fields: Any) -> Any:
        """Submit a query; return the answer."""
        words = "&".join(f"{key}={value}" for key, value in fields.items())
        return json.loads(await self.request("GET", f"/queries/{name}?{words}"))

    async def until(self, session: str, true: Callable[[Any], bool]) -> Any:
        """Read the session's lead thread until the condition is true; return it. Raises TimeoutError."""
        async with asyncio.timeout(PATIENCE):
            while not true(read := await self.query("get_thread_read", sessionId=session)):  # noqa: ASYNC110
                await asyncio.sleep(0.002)
        return read

    async def request(self, method: str, path: str, body: bytes = b"") -> bytes:
        """Return the body of the answer. Raises RuntimeError unless the status is 200."""
        self._send(method, path, body)
        status, headers = await self._head()
        answer = await self.reader.readexactly(int(headers[b"content-length"]))
        if status != b"200":
            raise RuntimeError(f"{method} {path} was answered with {status.decode()}: {answer[:300].decode()}")
        return answer

    async def stream(self, path: str) -> AsyncGenerator[bytes]:
        """Yield the chunks of a stream as they arrive."""
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
    """Return the bytes of a request."""
    target = path if path == HEALTH else f"{API}{path}"
    head = (
        f"{method} {target} HTTP/1.1\r\nHost: {product.host}:{product.port}\r\nAuthorization: Bearer {product.token}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


@dataclass
class Arrivals:
    """Arrival times of events, in nanoseconds of the clock that all processes share.

    Events are parsed afterwards: parsing on arrival would be part of the measurement.
    """

    chunks: list[tuple[int, bytes]] = field(default_factory=list[tuple[int, bytes]])

    def take(self, data: bytes) -> None:
        self.chunks.append((time.time_ns(), data))

    def events(self, kind: str = "ops") -> list[tuple[str, int]]:
        """Return the ids of the events of a kind, with the arrival of their first chunk."""
        whole = b"".join(data for _, data in self.chunks)
        # HTTP chunk frames are between events, never within these two lines.
        events: list[tuple[str, int]] = []
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
                events.append((match[1].decode(), ends[index][1]))
        return events
