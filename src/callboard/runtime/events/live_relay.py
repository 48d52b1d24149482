"""A live feed that also informs the event numbering."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Protocol

from callboard.contracts.live import Cursor, Frame
from callboard.contracts.ports.live import LiveFeed, LiveItem
from callboard.contracts.record import Record


class Listener(Protocol):
    """Receives everything that the feed receives, in the same order."""

    def receive_facts(self, stream: str, ends: Sequence[str]) -> None: ...

    def receive_frame(self, stream: str, frame: Frame) -> None: ...


class RelayedFeed:
    """Implements the port `LiveFeed` in front of another feed."""

    def __init__(self, feed: LiveFeed, listener: Listener) -> None:
        self._feed = feed
        self._listener = listener

    def begin(self, stream: str) -> None:
        self._feed.begin(stream)

    def publish_facts(self, stream: str, records: Sequence[Record], ends: Sequence[str] = ()) -> None:
        self._feed.publish_facts(stream, records, ends)
        self._listener.receive_facts(stream, ends)

    def publish_frame(self, stream: str, frame: Frame) -> Cursor:
        cursor = self._feed.publish_frame(stream, frame)
        self._listener.receive_frame(stream, frame)
        return cursor

    def follow(self, stream: str, after: Cursor | None = None) -> AsyncGenerator[tuple[LiveItem, ...], None]:
        return self._feed.follow(stream, after)
