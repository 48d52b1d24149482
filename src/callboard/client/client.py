"""A client of a running Callboard: commands that are safe to repeat, queries, and feeds that go on where they were cut."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from typing import Any, Self, TypeVar, cast

import httpx2
import msgspec
import uuid_utils
from httpx2 import EventSource, ServerSentEvent

from callboard.contracts.commands import TABLE
from callboard.contracts.commands.base import Command
from callboard.contracts.content import BlobRef, Text, valid_text
from callboard.contracts.errors import Code, Problem, Refusal
from callboard.contracts.ids import is_workspace_stream
from callboard.contracts.live import Cursor, parse_cursor
from callboard.contracts.ports.runtime import OpBatch
from callboard.contracts.ports.uploads import Upload
from callboard.contracts.record import WireEvent
from callboard.contracts.rows import decode_ops

from .endpoint import Endpoint, loopback_context

API = "/api/v1"
KEY_HEADER = "Idempotency-Key"
LAST_EVENT_ID = "Last-Event-ID"
_UNAUTHENTICATED = 401
#: Seconds: to connect; for an answer; the longest silence of a feed, whose server is heard at least every 15.
_CONNECT_S, _ANSWER_S, _SILENCE_S = 2.0, 60.0, 40.0
#: Blobs are fetched in pieces of so many bytes.
_PIECE = 4 * 1024 * 1024
#: Waits between tries, in seconds; after the last the server counts as gone.
WAITS = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2)

_DECLARED = {row.command: row for row in TABLE}
T = TypeVar("T")
Locate = Callable[[], Awaitable[Endpoint | None]]


class _Batch(msgspec.Struct):
    kind: str
    cursor: str
    ops: msgspec.Raw


class PageLink(msgspec.Struct, rename="camel"):
    """An address that opens the page, once and within `expires_in_s` seconds; `opener` is a file that redirects there."""

    link: str
    opener: str
    expires_in_s: int


class _Page(msgspec.Struct):
    events: tuple[WireEvent, ...]
    next: int
    head: int


class Client:
    """Speaks to the process behind an endpoint. Use it as an async context manager.

    `locate` finds the endpoint anew when the process no longer answers, as after a restart on another port. `waits` are
    those between tries, in seconds.
    """

    def __init__(self, endpoint: Endpoint, *, locate: Locate | None = None, waits: tuple[float, ...] = WAITS) -> None:
        self._endpoint = endpoint
        self._locate = locate
        self._waits = waits
        timeout = httpx2.Timeout(_ANSWER_S, connect=_CONNECT_S)
        self._http = httpx2.AsyncClient(trust_env=False, verify=loopback_context(), timeout=timeout)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    @property
    def endpoint(self) -> Endpoint:
        """Where the process answers that was found last."""
        return self._endpoint

    async def submit(self, command: Command, *, key: str = "") -> Any:
        """Gives a command, or asks a query; returns its declared answer. Raises Refusal, `unreachable` included.

        One try follows another under the same key, so the command takes effect once however often its answer was lost.
        """
        row = _DECLARED[type(command)]
        body = _encoded(command)
        if row.query:
            sent: dict[str, Any] = msgspec.to_builtins(command)
            params = {name: value for name, value in sent.items() if value is not None}
            response = await self._tried(lambda: self._ask("GET", f"/queries/{row.name}", params=params))
        else:
            headers = {KEY_HEADER: key or str(uuid_utils.uuid7()), "Content-Type": "application/json"}
            path = f"/commands/{row.name}"
            response = await self._tried(lambda: self._ask("POST", path, headers=headers, content=body))
        return msgspec.json.decode(response.content, type=row.answer)

    async def upload(self, name: str, data: bytes) -> Upload:
        """Send a file that a turn can attach. A try whose answer was lost leaves a copy that expires unused. Raises Refusal."""
        headers = {"Content-Type": "application/octet-stream"}
        response = await self._tried(
            lambda: self._ask("POST", "/uploads", params={"name": name}, headers=headers, content=data)
        )
        return msgspec.json.decode(response.content, type=Upload)

    async def read_facts(self, stream: str, *, after: int, limit: int = 1000) -> tuple[WireEvent, ...]:
        """The facts of a session or workspace after a sequence, at most so many."""
        path = f"{_place(stream)}/facts"
        response = await self._tried(lambda: self._ask("GET", path, params={"after": after, "limit": limit}))
        return msgspec.json.decode(response.content, type=_Page).events

    async def create_page_link(self, route: str = "") -> PageLink:
        """Return an address that opens the page once, at a place in it such as `/s/ses_1`. Raises Refusal."""
        body = msgspec.json.encode({"route": route})
        headers = {"Content-Type": "application/json"}
        response = await self._tried(lambda: self._ask("POST", "/page/links", headers=headers, content=body))
        return msgspec.json.decode(response.content, type=PageLink)

    async def read_text(self, text: Text) -> str:
        """All of a text, also where the row holds a preview. Raises Refusal `unknown_blob`."""
        if text.ref is None:
            return text.text
        path = f"/blobs/{text.ref.hash}"
        response = await self._tried(lambda: self._ask("GET", path))
        return response.content.decode("utf-8", "replace")

    async def read_blob(self, ref: BlobRef) -> AsyncGenerator[bytes]:
        """The bytes of a blob, in pieces. Raises Refusal `unknown_blob`."""
        path = f"/blobs/{ref.hash}"
        for offset in range(0, ref.size, _PIECE):
            span = {"offset": offset, "length": min(_PIECE, ref.size - offset)}
            response = await self._tried(lambda span=span: self._ask("GET", path, params=span))
            yield response.content

    async def follow_facts(self, stream: str, *, after: int = 0) -> AsyncGenerator[WireEvent]:
        """The facts after a sequence, stored and then live, without gap or repeat. Raises Refusal."""
        async with aclosing(self._follow(stream, "facts", str(after))) as told:
            async for event in told:
                yield msgspec.json.decode(event.data, type=WireEvent)

    async def follow_ops(self, stream: str, *, after: Cursor | None = None) -> AsyncGenerator[OpBatch]:
        """Row operations, from a snapshot or from the cursor on, without gap or repeat. Raises Refusal."""
        async with aclosing(self._follow(stream, "ops", str(after) if after else "")) as told:
            async for event in told:
                batch = msgspec.json.decode(event.data, type=_Batch)
                cursor = parse_cursor(batch.cursor)
                if cursor is None:
                    raise Refusal("gap", f"The server told a place that is none: {batch.cursor[:40]}")
                yield OpBatch(kind=batch.kind, cursor=cursor, ops=decode_ops(batch.ops))

    async def _follow(self, stream: str, feed: str, place: str) -> AsyncGenerator[ServerSentEvent]:
        """The events of a feed; a connection that breaks, or is ended by a server that stops, is made anew."""
        failures = 0
        while True:
            headers = {LAST_EVENT_ID: place} if place else {}
            try:
                async with self._stream(f"{_place(stream)}/{feed}", headers) as response:
                    if await self._is_renewed(response):
                        continue
                    await _checked(response)
                    source = aiter(EventSource(response, max_event_size=None))
                    async with aclosing(cast("AsyncGenerator[ServerSentEvent]", source)) as events:
                        async for event in events:
                            if event.event in ("gap", "problem"):
                                raise _refusal(event.data)
                            yield event
                            place = event.id or place
                            failures = 0
            except httpx2.TransportError as error:
                await self._again(failures, error)
            else:
                await self._again(failures, None)
            failures += 1

    async def _tried(self, ask: Callable[[], Awaitable[httpx2.Response]]) -> httpx2.Response:
        failures = 0
        while True:
            try:
                response = await ask()
            except httpx2.TransportError as error:
                await self._again(failures, error)
                failures += 1
            else:
                if await self._is_renewed(response):
                    continue
                await _checked(response)
                return response

    async def _is_renewed(self, response: httpx2.Response) -> bool:
        """Return True if the token was refused and the endpoint names another one by now, as after a restart."""
        if response.status_code != _UNAUTHENTICATED or self._locate is None:
            return False
        found = await self._locate()
        if found is None or found.token == self._endpoint.token:
            return False
        self._endpoint = found
        return True

    async def _again(self, failures: int, error: Exception | None) -> None:
        """Waits before the next try. Raises Refusal `unreachable` after the last."""
        if failures >= len(self._waits):
            raise Refusal(
                "unreachable",
                f"Callboard no longer answers at {self._endpoint.url}.",
                hint="Start it again with `callboard`; what it acknowledged is kept.",
            ) from error
        await asyncio.sleep(self._waits[failures])
        if self._locate is not None:
            self._endpoint = await self._locate() or self._endpoint

    def _stream(self, path: str, headers: Mapping[str, str]):
        timeout = httpx2.Timeout(_SILENCE_S, connect=_CONNECT_S)
        url = f"{self._endpoint.url}{API}{path}"
        return self._http.stream("GET", url, headers={**headers, **self._authorised()}, timeout=timeout)

    async def _ask(self, method: str, path: str, headers: Mapping[str, str] | None = None, **sent: Any):
        url = f"{self._endpoint.url}{API}{path}"
        return await self._http.request(method, url, headers={**(headers or {}), **self._authorised()}, **sent)

    def _authorised(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._endpoint.token}"}


def _place(stream: str) -> str:
    return f"/{'workspaces' if is_workspace_stream(stream) else 'sessions'}/{stream}"


async def _checked(response: httpx2.Response) -> None:
    if not response.is_success:
        raise _refusal(await response.aread())


def _refusal(body: bytes | str) -> Refusal:
    try:
        problem = msgspec.json.decode(body, type=Problem)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        code: Code = "internal"
        problem = Problem(code=code, message="What answers there is not this version of Callboard.")
    return Refusal.from_problem(problem)


def _encoded(command: Command) -> bytes:
    """Return the command as JSON. Raises Refusal `invalid_input` for what is typed or named in another encoding than UTF-8."""
    try:
        return msgspec.json.encode(command)
    except UnicodeEncodeError as error:
        field = next(name for name in command.__struct_fields__ if not _has_encoding(getattr(command, name)))
        raise Refusal(
            "invalid_input",
            f"`{field}` is not valid UTF-8: {valid_text(str(getattr(command, field)))[:200]}",
            field=field,
            hint="Type it again in UTF-8. Callboard opens no file or folder whose name is in another encoding: rename it.",
        ) from error


def _has_encoding(value: object) -> bool:
    try:
        msgspec.json.encode(value)
    except UnicodeEncodeError:
        return False
    return True
