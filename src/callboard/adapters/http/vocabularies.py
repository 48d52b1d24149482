"""The facts of a session as events of another vocabulary: the Agent UI specification's, or the Subagents specification's.

What a fact is told as can depend on facts before it, so a stream reads the session from its first fact, also where it tells
events from a later one on only. Agent UI has classes for text in the making as well: such an event says at which offset of its
part its piece begins, and whoever comes late, or comes back, gets the text so far from offset 0. Behind the last fact of those
that were there `session.hydrated` says that what follows is news.
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
from callboard.projection.emit.agentui.events import agent_ui_delta, agent_ui_hydrated
from callboard.projection.emit.agentui.session_events import AgentUiEvents
from callboard.projection.emit.subagents import SubagentEvents

from .commands import API
from .dependencies import HttpDependencies
from .feeds import (
    LARGEST_CHUNK,
    Position,
    end_with_problem,
    gap_refusal,
    resume_sequence,
    sse_event,
    stream_of,
    unknown_stream,
)
from .requests import parse_query
from .streams import SseResponse, SseResponses, closing

Vocabulary = Literal["agent_ui", "subagents"]
_encoder = msgspec.json.Encoder()


class VocabularyQuery(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """`vocabulary` names whose events are told, `after` is the sequence of a fact: those of later facts are told."""

    vocabulary: Annotated[Vocabulary, Meta(description="Whose events.")]
    after: Position = 0


class _Translation(Protocol):
    @property
    def type(self) -> str: ...


EventWriter = Callable[[Record], Sequence[_Translation]]


def vocabulary_routes(dependencies: HttpDependencies, streams: SseResponses) -> list[Route]:
    """The events of a session."""

    async def events(request: Request) -> SseResponse:
        query = parse_query(request, VocabularyQuery)
        stream = stream_of(request)
        after = resume_sequence(request, query.after)
        head = await dependencies.store.facts.head(stream)
        if head.sequence == 0:
            raise unknown_stream(stream)
        told = _events(dependencies, stream, after, head, _EventWriters(stream, query.vocabulary))
        return streams.respond(end_with_problem(told, f"the events of {stream}"))

    return [Route(f"{API}/sessions/{{stream}}/events", events, methods=["GET"])]


class _EventWriters:
    """Makes the events of one session in one vocabulary."""

    def __init__(self, session: str, vocabulary: Vocabulary) -> None:
        self._session = session
        self._deltas = vocabulary == "agent_ui"
        self._tell: EventWriter = AgentUiEvents().apply if vocabulary == "agent_ui" else SubagentEvents().apply

    def hydrated(self, through: int) -> bytes:
        """That all there was when the stream began is told; only Agent UI has a word for it."""
        if not self._deltas:
            return b""
        told = agent_ui_hydrated(self._session, through, time.time_ns() // 1000)
        return sse_event(told.type, _encoder.encode(told))

    def encoded(self, item: LiveItem, after: int) -> Iterator[bytes]:
        """The events of facts after a sequence, and of pieces, as they are sent."""
        match item:
            case LiveFacts(_, records):
                for record in records:
                    events = self._tell(record)
                    if record.sequence > after:
                        yield _told(record, events)
            case LivePiece(cursor, frame):
                yield self._delta(frame, cursor)
            case LiveGap(cursor, partials):
                for one in partials:
                    frame = Frame(kind=one.kind, scope=one.scope, offset=0, text=one.text, tool=one.tool)
                    yield self._delta(frame, cursor)

    def _delta(self, frame: Frame, cursor: Cursor) -> bytes:
        """Without an identity: whoever comes back goes on from the newest fact."""
        if not self._deltas:
            return b""
        told = agent_ui_delta(frame, self._session, cursor, time.time_ns() // 1000)
        return sse_event(told.type, _encoder.encode(told))


async def _events(
    dependencies: HttpDependencies, stream: str, after: int, head: Head, teller: _EventWriters
) -> AsyncGenerator[bytes]:
    if after > head.sequence:
        raise gap_refusal(stream, after, head)
    async with closing(dependencies.feeds.live(stream)) as batches:
        hydrated = False
        async for items in batches:
            chunk = bytearray()
            for item in items:
                for encoded in teller.encoded(item, after):
                    chunk += encoded
                    if len(chunk) > LARGEST_CHUNK:
                        yield bytes(chunk)
                        chunk.clear()
                if not hydrated and isinstance(item, LiveFacts) and item.records[-1].sequence >= head.sequence:
                    hydrated = True
                    chunk += teller.hydrated(item.records[-1].sequence)
            if chunk:
                yield bytes(chunk)


def _told(record: Record, events: Sequence[_Translation]) -> bytes:
    """The last event of a fact has its sequence: whoever saw only some of them is told all of them again."""
    last = len(events) - 1
    return b"".join(
        sse_event(one.type, _encoder.encode(one), str(record.sequence) if index == last else "")
        for index, one in enumerate(events)
    )
