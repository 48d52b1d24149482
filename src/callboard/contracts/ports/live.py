"""Port of the live feed: facts and partials of a stream in one order, for consumers in the same process."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Protocol

import msgspec

from ..live import Cursor, Frame, Partial
from ..record import Record


class LiveFacts(msgspec.Struct, frozen=True, gc=False):
    """Durable facts. `cursor` is the position after them: the newest sequence and no frame."""

    cursor: Cursor
    records: tuple[Record, ...]


class LivePiece(msgspec.Struct, frozen=True, gc=False):
    """A piece of a partial. Consecutive pieces of a part may be joined; `cursor` is the position after the last."""

    cursor: Cursor
    frame: Frame


class LiveGap(msgspec.Struct, frozen=True, gc=False):
    """The feed cannot continue from the consumer's position.

    The consumer is now at `cursor`. It must rebuild its view from the facts up to `cursor.sequence`
    and from `partials`, the text so far of each unfinished part.
    """

    cursor: Cursor
    partials: tuple[Partial, ...]


LiveItem = LiveFacts | LivePiece | LiveGap


class LiveFeed(Protocol):
    """The feed of all streams of a process.

    The writer calls `publish_facts` once facts are durable and `publish_frame` for pieces, in order. Neither waits
    for a consumer.
    """

    def begin(self, stream: str) -> None:
        """Declare a new stream without facts, so that its first follower need not read its end from the log."""
        ...

    def publish_facts(self, stream: str, records: Sequence[Record], ends: Sequence[str] = ()) -> None:
        """Publish durable facts, which finish the parts with the keys `ends` (`live.build_partial_key`).

        Repeated facts are ignored. After missing facts all followers get a LiveGap.
        """
        ...

    def publish_frame(self, stream: str, frame: Frame) -> Cursor:
        """Publish a piece of a part, and return the position after it.

        Raises:
            ValueError: The offset is not the length of the part, or the stream has no facts yet.
        """
        ...

    def follow(self, stream: str, after: Cursor | None = None) -> AsyncGenerator[tuple[LiveItem, ...], None]:
        """Yield what follows a cursor, in batches, without gap or repeat.

        It begins with a LiveGap if `after` is None or too old, and yields another one to a consumer
        that falls too far behind. Memory is bounded whatever consumers do.
        """
        ...
