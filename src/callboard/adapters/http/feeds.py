"""Facts and row operations of a session or a workspace: streams that go on from where a client was, and pages of facts."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Annotated

import msgspec
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from callboard.contracts.errors import Code, Problem, Refusal
from callboard.contracts.ids import is_workspace_stream
from callboard.contracts.live import Cursor, parse_cursor
from callboard.contracts.ports.store import Head
from callboard.contracts.record import Record, WireEvent
from callboard.projection.emit.runtime import wire_event

from .commands import API, json_response
from .dependencies import HttpDependencies
from .problems import incident
from .requests import parse_query
from .streams import SseResponse, SseResponses, closing

LAST_EVENT_ID = "Last-Event-ID"
#: A page of facts ends at so many bytes, whatever its limit; a stream writes no larger chunk unless one fact is larger.
LARGEST_PAGE = 1_000_000
LARGEST_CHUNK = 256 * 1024
MOST_FACTS = 1000

Position = Annotated[int, Meta(ge=0, le=2**53 - 1)]
_STREAM_NAME = re.compile(r"(ses|wks)_[A-Za-z0-9]{1,60}")
_encoder = msgspec.json.Encoder()


class FactsQuery(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """`after` is a sequence; a `limit` asks for a page of at most so many facts."""

    after: Position = 0
    limit: Annotated[int, Meta(ge=1, le=MOST_FACTS)] | None = None


class OpsQuery(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """`after` is a cursor, `sequence.n`. Without one the stream begins with a snapshot."""

    after: Annotated[str, Meta(max_length=40)] | None = None


class FactPage(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Facts in their order. `next` is the `after` of the page that follows, `head` the newest sequence of the stream."""

    events: tuple[WireEvent, ...]
    next: int
    head: int


def feed_routes(given: HttpDependencies, streams: SseResponses) -> list[Route]:
    """Both feeds, of sessions and of workspaces."""
    feeds = _Feeds(given, streams)
    return [
        Route(f"{API}/{kind}/{{stream}}/{feed}", handler, methods=["GET"])
        for kind in ("sessions", "workspaces")
        for feed, handler in (("facts", feeds.facts), ("ops", feeds.ops))
    ]


class _Feeds:
    def __init__(self, given: HttpDependencies, streams: SseResponses) -> None:
        self._given = given
        self._streams = streams

    async def facts(self, request: Request) -> Response | SseResponse:
        query = parse_query(request, FactsQuery)
        stream = stream_of(request)
        after = resume_sequence(request, query.after)
        head = await self._given.store.facts.head(stream)
        if head.sequence == 0 and after == 0:
            raise unknown_stream(stream)
        if query.limit is not None or _wants_json(request):
            return await self._page(stream, after, query.limit or MOST_FACTS, head)
        return self._streams.respond(end_with_problem(self._events(stream, after, head), f"the facts of {stream}"))

    async def ops(self, request: Request) -> SseResponse:
        query = parse_query(request, OpsQuery)
        stream = stream_of(request)
        after = _cursor(request, query.after)
        if (await self._given.store.facts.head(stream)).sequence == 0:
            raise unknown_stream(stream)
        chunks = self._given.feeds.ops(stream, after=after)
        return self._streams.respond(end_with_problem(chunks, f"the operations of {stream}"))

    async def _page(self, stream: str, after: int, limit: int, head: Head) -> Response:
        if after > head.sequence:
            raise gap_refusal(stream, after, head)
        events: list[WireEvent] = []
        size = 0
        for record in await self._given.store.facts.read(stream, after=after, limit=limit):
            wired = self._wire(record)
            size += len(wired.payload)
            if events and size > LARGEST_PAGE:
                break
            events.append(wired)
        following = events[-1].sequence if events else after
        return json_response(FactPage(events=tuple(events), next=following, head=max(head.sequence, following)))

    async def _events(self, stream: str, after: int, head: Head) -> AsyncGenerator[bytes]:
        if after > head.sequence:
            raise gap_refusal(stream, after, head)
        async with closing(self._given.feeds.facts(stream, after=after)) as batches:
            async for records in batches:
                chunk = bytearray()
                for record in records:
                    wired = self._wire(record)
                    chunk += sse_event(wired.type, _encoder.encode(wired), str(wired.sequence))
                    if len(chunk) > LARGEST_CHUNK:
                        yield bytes(chunk)
                        chunk.clear()
                if chunk:
                    yield bytes(chunk)

    def _wire(self, record: Record) -> WireEvent:
        return wire_event(record, self._given.store.id)


async def end_with_problem(chunks: AsyncIterator[bytes], doing: str) -> AsyncGenerator[bytes]:
    """The chunks; a refusal or a defect on the way is told as the last event, `gap` or `problem`."""
    try:
        async with closing(chunks) as source:
            async for chunk in source:
                yield chunk
                # Not kept while nothing comes: it may be a whole snapshot.
                del chunk
    except Refusal as refusal:
        yield _told(refusal.problem)
    except Exception as error:
        yield _told(incident(error, doing))


def _told(problem: Problem) -> bytes:
    return sse_event("gap" if problem.code == "gap" else "problem", _encoder.encode(problem))


def sse_event(name: str, data: bytes, identity: str = "") -> bytes:
    """One server-sent event. Without an identity a client that reconnects goes on from the one before."""
    head = f"id: {identity}\n" if identity else ""
    return b"%sevent: %s\ndata: %s\n\n" % (head.encode(), name.encode(), data)


def stream_of(request: Request) -> str:
    """The stream that the path names: a session's under sessions, a workspace's under workspaces."""
    stream: str = request.path_params["stream"]
    under_workspaces = request.url.path.startswith(f"{API}/workspaces/")
    if _STREAM_NAME.fullmatch(stream) is None or is_workspace_stream(stream) != under_workspaces:
        raise unknown_stream(stream[:80], "unknown_workspace" if under_workspaces else "unknown_session")
    return stream


def unknown_stream(stream: str, code: Code | None = None) -> Refusal:
    """There is no such stream."""
    found = code or ("unknown_workspace" if is_workspace_stream(stream) else "unknown_session")
    return Refusal(
        found,
        f"There is no {found.removeprefix('unknown_')} {stream}.",
        hint="list_workspaces and list_sessions name what there is.",
    )


def gap_refusal(stream: str, after: int, head: Head) -> Refusal:
    """There is nothing to go on from."""
    return Refusal(
        "gap",
        f"There is nothing to go on from after {after}: {stream} "
        + (f"ends at {head.sequence}." if head.sequence else "is gone."),
        field="after",
        hint="Take a snapshot with get_session and follow from its cursor.",
    )


def _wants_json(request: Request) -> bool:
    accept = request.headers.get("accept", "")
    return "application/json" in accept and "text/event-stream" not in accept


def resume_sequence(request: Request, after: int) -> int:
    """The sequence to go on from. Last-Event-ID wins: a browser that reconnects repeats the address it began with."""
    sent = request.headers.get(LAST_EVENT_ID)
    return after if sent is None else _parsed(sent, LAST_EVENT_ID).sequence


def _cursor(request: Request, after: str | None) -> Cursor | None:
    sent = request.headers.get(LAST_EVENT_ID)
    if sent is not None:
        return _parsed(sent, LAST_EVENT_ID)
    return None if after is None else _parsed(after, "after")


def _parsed(text: str, field: str) -> Cursor:
    cursor = parse_cursor(text)
    if cursor is None:
        raise Refusal(
            "invalid_input",
            "Expected a sequence, or a cursor written as sequence.n.",
            field=field,
            hint="Send the id of the last event, unchanged.",
        )
    return cursor
