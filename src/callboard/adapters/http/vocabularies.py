"""Facts of a session as events of the Agent UI or the Subagents specification.

The events of a fact can depend on earlier facts, so a stream reads the session from its first fact even if it sends only later
events. Agent UI also has events for partial text. Such an event has its offset in the part, and a client that connects late
gets the text from offset 0. The event `session.hydrated` follows the last fact that existed when the stream started.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from typing import Annotated, Literal, Protocol

import msgspec
from msgspec import Meta
from starlette.requests import Request
from starlette.routing import Route

from callboard.contracts.live import Cursor, Frame
from callboard.contracts.ports.live import LiveFacts, LiveGap, LiveItem, LivePiece
from callboard.contracts.ports.store import Head
from callboard.contracts.record import Record
from callboard.projection.emit.agentui.events import build_delta_event, build_hydrated_event
from callboard.projection.emit.agentui.session_events import AgentUiEvents
from callboard.projection.emit.subagents import SubagentEvents

from .commands import API
from .dependencies import HttpDependencies
from .feeds import (
    MAX_CHUNK_BYTES,
    Position,
    build_gap_refusal,
    build_stream_refusal,
    encode_event,
    end_with_problem,
    get_stream_id,
    read_resume_sequence,
)
from .requests import parse_query
from .streams import SseResponse, SseResponses, close_at_end

Vocabulary = Literal["agent_ui", "subagents"]
_encoder = msgspec.json.Encoder()


class VocabularyQuery(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """`vocabulary` is the specification of the events. Only events of facts after the sequence `after` are sent."""

    vocabulary: Annotated[Vocabulary, Meta(description="The specification of the events.")]
    after: Position = 0


class _Event(Protocol):
    @property
    def type(self) -> str: ...


def build_vocabulary_routes(dependencies: HttpDependencies, streams: SseResponses) -> list[Route]:
    """Build the route of a session's events."""

    async def follow_events(request: Request) -> SseResponse:
        query = parse_query(request, VocabularyQuery)
        stream = get_stream_id(request)
        after = read_resume_sequence(request, query.after)
        head = await dependencies.store.facts.read_head(stream)
        if head.sequence == 0:
            raise build_stream_refusal(stream)
        chunks = _follow_events(dependencies, stream, after, head, _EventEncoder(stream, query.vocabulary))
        return streams.respond(end_with_problem(chunks, f"the events of {stream}"))

    return [Route(f"{API}/sessions/{{stream}}/events", follow_events, methods=["GET"])]


class _EventEncoder:
    """Encode the events of a session in one vocabulary."""

    def __init__(self, session: str, vocabulary: Vocabulary) -> None:
        self._session = session
        self._has_partials = vocabulary == "agent_ui"
        self._translate: Callable[[Record], Sequence[_Event]] = (
            AgentUiEvents().apply if vocabulary == "agent_ui" else SubagentEvents().apply
        )

    def encode_hydrated(self, through: int) -> bytes:
        """Encode the event after the last existing fact. Only Agent UI has one."""
        if not self._has_partials:
            return b""
        event = build_hydrated_event(self._session, through, time.time_ns() // 1000)
        return encode_event(event.type, _encoder.encode(event))

    def encode(self, item: LiveItem, after: int) -> Iterator[bytes]:
        """Encode the events of facts after a sequence, and of partial text."""
        match item:
            case LiveFacts(_, records):
                for record in records:
                    events = self._translate(record)
                    if record.sequence > after:
                        yield _encode_fact(record, events)
            case LivePiece(cursor, frame):
                yield self._encode_delta(frame, cursor)
            case LiveGap(cursor, partials):
                for partial in partials:
                    frame = Frame(
                        kind=partial.kind, scope=partial.scope, offset=0, text=partial.text, tool=partial.tool
                    )
                    yield self._encode_delta(frame, cursor)

    def _encode_delta(self, frame: Frame, cursor: Cursor) -> bytes:
        # Without an id, so that a client resumes from the newest fact.
        if not self._has_partials:
            return b""
        event = build_delta_event(frame, self._session, cursor, time.time_ns() // 1000)
        return encode_event(event.type, _encoder.encode(event))


async def _follow_events(
    dependencies: HttpDependencies, stream: str, after: int, head: Head, encoder: _EventEncoder
) -> AsyncGenerator[bytes]:
    if after > head.sequence:
        raise build_gap_refusal(stream, after, head)
    async with close_at_end(dependencies.feeds.follow_live(stream)) as batches:
        hydrated = False
        async for items in batches:
            chunk = bytearray()
            for item in items:
                for encoded in encoder.encode(item, after):
                    chunk += encoded
                    if len(chunk) > MAX_CHUNK_BYTES:
                        yield bytes(chunk)
                        chunk.clear()
                if not hydrated and isinstance(item, LiveFacts) and item.records[-1].sequence >= head.sequence:
                    hydrated = True
                    chunk += encoder.encode_hydrated(item.records[-1].sequence)
            if chunk:
                yield bytes(chunk)


def _encode_fact(record: Record, events: Sequence[_Event]) -> bytes:
    """Encode the events of a fact. Only the last has an id, so that a client that received a part gets all again."""
    last = len(events) - 1
    return b"".join(
        encode_event(event.type, _encoder.encode(event), str(record.sequence) if index == last else "")
        for index, event in enumerate(events)
    )
