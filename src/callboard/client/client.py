"""Client of a running Callboard: retried commands, queries, and feeds that resume after a lost connection."""

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
from callboard.contracts.content import BlobRef, Text, repair_text
from callboard.contracts.errors import Code, Problem, Refusal
from callboard.contracts.ids import is_workspace_stream
from callboard.contracts.live import Cursor, parse_cursor
from callboard.contracts.ports.runtime import OpBatch
from callboard.contracts.ports.uploads import Upload
from callboard.contracts.record import WireEvent
from callboard.contracts.rows import decode_ops

from .endpoint import Endpoint, build_loopback_context

API = "/api/v1"
KEY_HEADER = "Idempotency-Key"
LAST_EVENT_ID = "Last-Event-ID"
_UNAUTHENTICATED = 401
#: Timeouts in seconds: connection, response, and silence of a feed. The server sends something at least every 15.
_CONNECT_SECONDS, _RESPONSE_SECONDS, _SILENCE_SECONDS = 2.0, 60.0, 40.0
#: Bytes per request of a blob.
_PIECE = 4 * 1024 * 1024
#: Seconds between attempts. After the last one the server is unreachable.
WAITS = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2)

_DECLARED = {row.command: row for row in TABLE}
T = TypeVar("T")
Locate = Callable[[], Awaitable[Endpoint | None]]


class _Batch(msgspec.Struct):
    kind: str
    cursor: str
    ops: msgspec.Raw


class PageLink(msgspec.Struct, rename="camel"):
    """An address that opens the page once.

    Attributes:
        link: The address, with a code for one sign-in.
        opener: Path of a file that redirects to the address. Give it to a browser instead: other users of the machine can read
            the arguments of processes.
        expires_in_s: Lifetime in seconds.
    Example:
        page = await client.create_page_link("/s/ses_1")
        webbrowser.open(Path(page.opener).as_uri())
    """

    link: str
    opener: str
    expires_in_s: int


class _Page(msgspec.Struct):
    events: tuple[WireEvent, ...]
    next: int
    head: int


class Client:
    """A connection to a running Callboard, used as an async context manager.

    All methods retry lost connections. They raise Refusal `unreachable` after the last attempt, and `unauthenticated` for an
    invalid token.

    Example:
        async with Client(endpoint) as client:
            facts = await client.read_facts("ses_1", after=53)
    """

    def __init__(self, endpoint: Endpoint, *, locate: Locate | None = None, waits: tuple[float, ...] = WAITS) -> None:
        """Create a client without connecting.

        Args:
            endpoint: Address and token of the process.
            locate: Finds the endpoint again after a restart, on another port or with another token; None if Callboard is not
                running.
            waits: Seconds between attempts. The number of waits is the number of repeated attempts.
        """
        self._endpoint = endpoint
        self._locate = locate
        self._waits = waits
        timeout = httpx2.Timeout(_RESPONSE_SECONDS, connect=_CONNECT_SECONDS)
        self._http = httpx2.AsyncClient(trust_env=False, verify=build_loopback_context(), timeout=timeout)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    @property
    def endpoint(self) -> Endpoint:
        """The endpoint in use."""
        return self._endpoint

    async def submit(self, command: Command, *, key: str = "") -> Any:
        """Submit a command or query.

        All attempts use one idempotency key, so a command takes effect once even if its answer is lost.

        Args:
            command: A command or query of `callboard.contracts.commands`.
            key: Idempotency key; a new one by default. Queries ignore it.
        Returns:
            The declared answer of the command.
        Raises:
            Refusal: Any refusal of the command, and `invalid_input` for text that is not valid UTF-8. `Refusal.problem` has
                the code, the message, the field and a hint.
        Example:
            turn = await client.submit(SubmitTurn(workspace_id="wks_1", text="List the files."))
        """
        row = _DECLARED[type(command)]
        body = _encode(command)
        if row.query:
            fields: dict[str, Any] = msgspec.to_builtins(command)
            parameters = {name: value for name, value in fields.items() if value is not None}
            response = await self._retry(lambda: self._ask("GET", f"/queries/{row.name}", params=parameters))
        else:
            headers = {KEY_HEADER: key or str(uuid_utils.uuid7()), "Content-Type": "application/json"}
            path = f"/commands/{row.name}"
            response = await self._retry(lambda: self._ask("POST", path, headers=headers, content=body))
        return msgspec.json.decode(response.content, type=row.answer)

    async def upload(self, name: str, data: bytes) -> Upload:
        """Upload a file that a turn can attach.

        A lost response leaves an unused copy, which expires.

        Args:
            name: File name that the turn shows.
            data: Content of the file, at most 20 MiB.
        Returns:
            The id, media type and size (bytes) of the upload. Unused uploads are deleted after a day.
        Raises:
            Refusal: `too_large`, `invalid_input` for an empty file, or `store_full`.
        Example:
            file = await client.upload("notes.md", Path("notes.md").read_bytes())
            command = SubmitTurn(session_id="ses_1", text="Read it.", attachments=(Attachment(upload=file.upload),))
        """
        headers = {"Content-Type": "application/octet-stream"}
        response = await self._retry(
            lambda: self._ask("POST", "/uploads", params={"name": name}, headers=headers, content=data)
        )
        return msgspec.json.decode(response.content, type=Upload)

    async def read_facts(self, stream: str, *, after: int, limit: int = 1000) -> tuple[WireEvent, ...]:
        """Read committed facts of a session or workspace in sequence order.

        Args:
            stream: Id of the session or workspace.
            after: Return only facts with a greater sequence. 0 starts at the first fact.
            limit: Maximum number of facts, 1 to 1000.
        Returns:
            The facts; empty if there are none after `after`.
        Raises:
            Refusal: `unknown_session`, `unknown_workspace`, or `gap` if `after` is above the newest sequence.
        Example:
            facts = await client.read_facts("ses_1", after=53)
        """
        path = f"{_build_path(stream)}/facts"
        response = await self._retry(lambda: self._ask("GET", path, params={"after": after, "limit": limit}))
        return msgspec.json.decode(response.content, type=_Page).events

    async def create_page_link(self, route: str = "") -> PageLink:
        """Create an address that opens the page once.

        Args:
            route: Route in the page, such as `/s/ses_1`.
        Returns:
            The address, a file that redirects to it, and its lifetime in seconds.
        Raises:
            Refusal: `invalid_input` for an invalid route.
        Example:
            link = (await client.create_page_link("/s/ses_1")).link
        """
        body = msgspec.json.encode({"route": route})
        headers = {"Content-Type": "application/json"}
        response = await self._retry(lambda: self._ask("POST", "/page/links", headers=headers, content=body))
        return msgspec.json.decode(response.content, type=PageLink)

    async def read_text(self, text: Text) -> str:
        """Return the whole text, even if the row holds only a preview.

        Args:
            text: A text of a row or fact.
        Returns:
            The text; invalid UTF-8 is replaced.
        Raises:
            Refusal: `unknown_blob` if the content was erased.
        Example:
            answer = await client.read_text(part.content)
        """
        if text.ref is None:
            return text.text
        path = f"/blobs/{text.ref.hash}"
        response = await self._retry(lambda: self._ask("GET", path))
        return response.content.decode("utf-8", "replace")

    async def read_blob(self, ref: BlobRef) -> AsyncGenerator[bytes]:
        """Read the bytes of a blob in pieces.

        Args:
            ref: Reference to the blob.
        Yields:
            Pieces of at most 4 MiB, in order.
        Raises:
            Refusal: `unknown_blob` if the content was erased.
        Example:
            data = b"".join([piece async for piece in client.read_blob(ref)])
        """
        path = f"/blobs/{ref.hash}"
        for offset in range(0, ref.size, _PIECE):
            span = {"offset": offset, "length": min(_PIECE, ref.size - offset)}
            response = await self._retry(lambda span=span: self._ask("GET", path, params=span))
            yield response.content

    async def follow_facts(self, stream: str, *, after: int = 0) -> AsyncGenerator[WireEvent]:
        """Follow the facts of a session or workspace, without gaps or repetitions.

        Args:
            stream: Id of the session or workspace.
            after: Yield only facts with a greater sequence. 0 starts at the first fact.
        Yields:
            Stored facts, then new ones, in sequence order. It does not end.
        Raises:
            Refusal: `unknown_session`, `unknown_workspace`, or `gap`.
        Example:
            async for fact in client.follow_facts("ses_1", after=53): ...
        """
        async with aclosing(self._follow(stream, "facts", str(after))) as events:
            async for event in events:
                yield msgspec.json.decode(event.data, type=WireEvent)

    async def follow_ops(self, stream: str, *, after: Cursor | None = None) -> AsyncGenerator[OpBatch]:
        """Follow the row operations of a session or workspace, without gaps or repetitions.

        Args:
            stream: Id of the session or workspace.
            after: Cursor of the last batch; None starts with a snapshot.
        Yields:
            Batches of row operations, in order. It does not end.
        Raises:
            Refusal: `unknown_session`, `unknown_workspace`, or `gap` for a cursor that the server cannot serve.
        Example:
            async for batch in client.follow_ops("ses_1"): table.apply(batch.ops)
        """
        async with aclosing(self._follow(stream, "ops", str(after) if after else "")) as events:
            async for event in events:
                batch = msgspec.json.decode(event.data, type=_Batch)
                cursor = parse_cursor(batch.cursor)
                if cursor is None:
                    raise Refusal(
                        "gap",
                        f"The server sent an invalid cursor: {batch.cursor[:40]}",
                        hint="Read a snapshot with get_session and continue from its cursor.",
                    )
                yield OpBatch(kind=batch.kind, cursor=cursor, ops=decode_ops(batch.ops))

    async def _follow(self, stream: str, feed: str, position: str) -> AsyncGenerator[ServerSentEvent]:
        """Yield the events of a feed; reconnect after a lost or closed connection."""
        failures = 0
        while True:
            headers = {LAST_EVENT_ID: position} if position else {}
            try:
                async with self._stream(f"{_build_path(stream)}/{feed}", headers) as response:
                    if await self._renew_endpoint(response):
                        continue
                    await _raise_for_refusal(response)
                    source = aiter(EventSource(response, max_event_size=None))
                    async with aclosing(cast("AsyncGenerator[ServerSentEvent]", source)) as events:
                        async for event in events:
                            if event.event in ("gap", "problem"):
                                raise _decode_refusal(event.data)
                            yield event
                            position = event.id or position
                            failures = 0
            except httpx2.TransportError as error:
                await self._wait(failures, error)
            else:
                await self._wait(failures, None)
            failures += 1

    async def _retry(self, ask: Callable[[], Awaitable[httpx2.Response]]) -> httpx2.Response:
        failures = 0
        while True:
            try:
                response = await ask()
            except httpx2.TransportError as error:
                await self._wait(failures, error)
                failures += 1
            else:
                if await self._renew_endpoint(response):
                    continue
                await _raise_for_refusal(response)
                return response

    async def _renew_endpoint(self, response: httpx2.Response) -> bool:
        """Use the endpoint's new token if the server refused the old one, as after a restart.

        Returns:
            True if there is a new token.
        """
        if response.status_code != _UNAUTHENTICATED or self._locate is None:
            return False
        endpoint = await self._locate()
        if endpoint is None or endpoint.token == self._endpoint.token:
            return False
        self._endpoint = endpoint
        return True

    async def _wait(self, failures: int, error: Exception | None) -> None:
        """Wait before the next attempt. Raises Refusal `unreachable` after the last."""
        if failures >= len(self._waits):
            raise Refusal(
                "unreachable",
                f"Callboard no longer responds at {self._endpoint.url}.",
                hint="Start it again with `callboard`; acknowledged work is kept.",
            ) from error
        await asyncio.sleep(self._waits[failures])
        if self._locate is not None:
            self._endpoint = await self._locate() or self._endpoint

    def _stream(self, path: str, headers: Mapping[str, str]):
        timeout = httpx2.Timeout(_SILENCE_SECONDS, connect=_CONNECT_SECONDS)
        url = f"{self._endpoint.url}{API}{path}"
        return self._http.stream("GET", url, headers={**headers, **self._build_headers()}, timeout=timeout)

    async def _ask(self, method: str, path: str, headers: Mapping[str, str] | None = None, **options: Any):
        url = f"{self._endpoint.url}{API}{path}"
        return await self._http.request(method, url, headers={**(headers or {}), **self._build_headers()}, **options)

    def _build_headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._endpoint.token}"}


def _build_path(stream: str) -> str:
    return f"/{'workspaces' if is_workspace_stream(stream) else 'sessions'}/{stream}"


async def _raise_for_refusal(response: httpx2.Response) -> None:
    if not response.is_success:
        raise _decode_refusal(await response.aread())


def _decode_refusal(body: bytes | str) -> Refusal:
    try:
        problem = msgspec.json.decode(body, type=Problem)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        code: Code = "internal"
        problem = Problem(
            code=code,
            message="The server is not this version of Callboard.",
            hint="Stop the server, then start it again with `callboard`.",
        )
    return Refusal.from_problem(problem)


def _encode(command: Command) -> bytes:
    """Return the command as JSON. Raises Refusal `invalid_input` for text that is not valid UTF-8."""
    try:
        return msgspec.json.encode(command)
    except UnicodeEncodeError as error:
        field = next(name for name in command.__struct_fields__ if not _is_encodable(getattr(command, name)))
        raise Refusal(
            "invalid_input",
            f"`{field}` is not valid UTF-8: {repair_text(str(getattr(command, field)))[:200]}",
            field=field,
            hint="Type it again in UTF-8. Rename a file or folder whose name uses another encoding.",
        ) from error


def _is_encodable(value: object) -> bool:
    try:
        msgspec.json.encode(value)
    except UnicodeEncodeError:
        return False
    return True
