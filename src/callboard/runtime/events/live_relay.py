"""The live feed, told on to whoever numbers its events."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Protocol

from callboard.contracts.live import Cursor, Frame
from callboard.contracts.ports.live import LiveFeed, LiveItem
from callboard.contracts.record import Record


class Listener(Protocol):
    """Is told what the feed is told, at once and in its order."""

    def facts(self, stream: str, ends: Sequence[str]) -> None: ...

    def frame(self, stream: str, frame: Frame) -> None: ...


class RelayedFeed:
    """The LiveFeed port, in front of another one."""

    def __init__(self, feed: LiveFeed, listener: Listener) -> None:
        self._feed = feed
        self._listener = listener

    def facts(self, stream: str, records: Sequence[Record], ends: Sequence[str] = ()) -> None:
        self._feed.facts(stream, records, ends)
        self._listener.facts(stream, ends)

    def frame(self, stream: str, frame: Frame) -> Cursor:
        cursor = self._feed.frame(stream, frame)
        self._listener.frame(stream, frame)
        return cursor

    def follow(self, stream: str, after: Cursor | None = None) -> AsyncGenerator[tuple[LiveItem, ...], None]:
        return self._feed.follow(stream, after)
