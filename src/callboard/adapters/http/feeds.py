"""Facts and row operations of a session or workspace: resumable streams, and pages of facts."""

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
from callboard.projection.emit.runtime import build_wire_event

from .commands import API, build_json_response
from .dependencies import HttpDependencies
from .problems import record_incident
from .requests import parse_query
from .streams import SseResponse, SseResponses, close_at_end

LAST_EVENT_ID = "Last-Event-ID"
#: The largest page of facts, in bytes. A single larger fact is sent alone.
MAX_PAGE_BYTES = 1_000_000
#: The largest chunk of a stream, in bytes. A single larger fact is sent alone.
MAX_CHUNK_BYTES = 256 * 1024
MAX_FACTS = 1000

Position = Annotated[int, Meta(ge=0, le=2**53 - 1)]
_STREAM_NAME = re.compile(r"(ses|wks)_[A-Za-z0-9]{1,60}")
_encoder = msgspec.json.Encoder()


class FactsQuery(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """`after` is a sequence. With `limit` the response is a page of at most that many facts."""

    after: Position = 0
    limit: Annotated[int, Meta(ge=1, le=MAX_FACTS)] | None = None


class OpsQuery(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """`after` is a cursor, `sequence.n`. Without a cursor the stream starts with a snapshot."""

    after: Annotated[str, Meta(max_length=40)] | None = None


class FactPage(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Facts in sequence order. `next` is the `after` of the next page, `head` the newest sequence of the stream."""

    events: tuple[WireEvent, ...]
    next: int
    head: int


def build_feed_routes(dependencies: HttpDependencies, streams: SseResponses) -> list[Route]:
    """Build the routes of both feeds, for sessions and workspaces."""
    feeds = _Feeds(dependencies, streams)
    return [
        Route(f"{API}/{kind}/{{stream}}/{feed}", handler, methods=["GET"])
        for kind in ("sessions", "workspaces")
        for feed, handler in (("facts", feeds.show_facts), ("ops", feeds.follow_ops))
    ]


class _Feeds:
    def __init__(self, dependencies: HttpDependencies, streams: SseResponses) -> None:
        self._dependencies = dependencies
        self._streams = streams

    async def show_facts(self, request: Request) -> Response | SseResponse:
        query = parse_query(request, FactsQuery)
        stream = get_stream_id(request)
        after = read_resume_sequence(request, query.after)
        head = await self._dependencies.store.facts.read_head(stream)
        if head.sequence == 0 and after == 0:
            raise build_stream_refusal(stream)
        if query.limit is not None or _is_json_request(request):
            return await self._read_page(stream, after, query.limit or MAX_FACTS, head)
        return self._streams.respond(
            end_with_problem(self._follow_events(stream, after, head), f"the facts of {stream}")
        )

    async def follow_ops(self, request: Request) -> SseResponse:
        query = parse_query(request, OpsQuery)
        stream = get_stream_id(request)
        after = _read_cursor(request, query.after)
        if (await self._dependencies.store.facts.read_head(stream)).sequence == 0:
            raise build_stream_refusal(stream)
        chunks = self._dependencies.feeds.follow_ops(stream, after=after)
        return self._streams.respond(end_with_problem(chunks, f"the operations of {stream}"))

    async def _read_page(self, stream: str, after: int, limit: int, head: Head) -> Response:
        if after > head.sequence:
            raise build_gap_refusal(stream, after, head)
        events: list[WireEvent] = []
        size = 0
        for record in await self._dependencies.store.facts.read(stream, after=after, limit=limit):
            wired = self._build_event(record)
            size += len(wired.payload)
            if events and size > MAX_PAGE_BYTES:
                break
            events.append(wired)
        last = events[-1].sequence if events else after
        return build_json_response(FactPage(events=tuple(events), next=last, head=max(head.sequence, last)))

    async def _follow_events(self, stream: str, after: int, head: Head) -> AsyncGenerator[bytes]:
        if after > head.sequence:
            raise build_gap_refusal(stream, after, head)
        async with close_at_end(self._dependencies.feeds.follow_facts(stream, after=after)) as batches:
            async for records in batches:
                chunk = bytearray()
                for record in records:
                    wired = self._build_event(record)
                    chunk += encode_event(wired.type, _encoder.encode(wired), str(wired.sequence))
                    if len(chunk) > MAX_CHUNK_BYTES:
                        yield bytes(chunk)
                        chunk.clear()
                if chunk:
                    yield bytes(chunk)

    def _build_event(self, record: Record) -> WireEvent:
        return build_wire_event(record, self._dependencies.store.id)


async def end_with_problem(chunks: AsyncIterator[bytes], subject: str) -> AsyncGenerator[bytes]:
    """Yield the chunks. After a refusal or a defect, yield a last event `gap` or `problem`.

    Args:
        subject: What is sent, for the log entry of an incident.
    """
    try:
        async with close_at_end(chunks) as source:
            async for chunk in source:
                yield chunk
                # Free the chunk before waiting for the next one: it may be a whole snapshot.
                del chunk
    except Refusal as refusal:
        yield _encode_problem(refusal.problem)
    except Exception as error:
        yield _encode_problem(record_incident(error, subject))


def _encode_problem(problem: Problem) -> bytes:
    return encode_event("gap" if problem.code == "gap" else "problem", _encoder.encode(problem))


def encode_event(name: str, data: bytes, id: str = "") -> bytes:
    """Encode a server-sent event. After an event without id, a client resumes from the last event with one."""
    head = f"id: {id}\n" if id else ""
    return b"%sevent: %s\ndata: %s\n\n" % (head.encode(), name.encode(), data)


def get_stream_id(request: Request) -> str:
    """Return the stream in the path. Raises Refusal `unknown_session` or `unknown_workspace` for an invalid one."""
    stream: str = request.path_params["stream"]
    under_workspaces = request.url.path.startswith(f"{API}/workspaces/")
    if _STREAM_NAME.fullmatch(stream) is None or is_workspace_stream(stream) != under_workspaces:
        raise build_stream_refusal(stream[:80], "unknown_workspace" if under_workspaces else "unknown_session")
    return stream


def build_stream_refusal(stream: str, code: Code | None = None) -> Refusal:
    """Return the refusal of an unknown stream."""
    code = code or ("unknown_workspace" if is_workspace_stream(stream) else "unknown_session")
    return Refusal(
        code,
        f"There is no {code.removeprefix('unknown_')} {stream}.",
        hint="list_workspaces and list_sessions return the existing ones.",
    )


def build_gap_refusal(stream: str, after: int, head: Head) -> Refusal:
    """Return the refusal of a position that the stream does not have."""
    state = f"ends at {head.sequence}" if head.sequence else "was deleted"
    return Refusal(
        "gap",
        f"Cannot continue after {after}: {stream} {state}.",
        field="after",
        hint="Read a snapshot with get_session and continue from its cursor.",
    )


def _is_json_request(request: Request) -> bool:
    accept = request.headers.get("accept", "")
    return "application/json" in accept and "text/event-stream" not in accept


def read_resume_sequence(request: Request, after: int) -> int:
    """Return the sequence to continue from.

    Last-Event-ID takes precedence over the query: a browser that reconnects repeats its first address.
    """
    sent = request.headers.get(LAST_EVENT_ID)
    return after if sent is None else _parse_cursor(sent, LAST_EVENT_ID).sequence


def _read_cursor(request: Request, after: str | None) -> Cursor | None:
    sent = request.headers.get(LAST_EVENT_ID)
    if sent is not None:
        return _parse_cursor(sent, LAST_EVENT_ID)
    return None if after is None else _parse_cursor(after, "after")


def _parse_cursor(text: str, field: str) -> Cursor:
    cursor = parse_cursor(text)
    if cursor is None:
        raise Refusal(
            "invalid_input",
            "Expected a sequence or a cursor of the form sequence.n.",
            field=field,
            hint="Send the id of the last event, unchanged.",
        )
    return cursor
