"""The live feed: facts and the text in the making of one stream, in one order, for consumers in the same process."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Protocol

import msgspec

from ..live import Cursor, Frame, Partial
from ..record import Record


class LiveFacts(msgspec.Struct, frozen=True):
    """Facts that are durable. After them the consumer is at `cursor`: the newest one's sequence, and no frame since."""

    cursor: Cursor
    records: tuple[Record, ...]


class LivePiece(msgspec.Struct, frozen=True):
    """A piece of a part in the making. Pieces of one part that follow each other may come joined as one; `cursor` is then
    the place after the last of them."""

    cursor: Cursor
    frame: Frame


class LiveGap(msgspec.Struct, frozen=True):
    """The feed cannot lead on from where the consumer was. It is now at `cursor`: what it shows must be made anew from the
    facts up to `cursor.sequence` and from `partials`, the text so far of every part in the making at that place."""

    cursor: Cursor
    partials: tuple[Partial, ...]


LiveItem = LiveFacts | LivePiece | LiveGap


class LiveFeed(Protocol):
    """One feed for all streams of a process. Its writer calls `facts` after the facts are durable and `frame` as pieces
    come, in the order in which they happen; neither ever waits for a consumer."""

    def facts(self, stream: str, records: Sequence[Record], ends: Sequence[str] = ()) -> None:
        """Facts became durable, and with them the parts with these keys (`live.partial_key`) are no longer in the making.

        Facts that the feed has had before are ignored; where some are missing before these, all followers get a LiveGap.
        """
        ...

    def frame(self, stream: str, frame: Frame) -> Cursor:
        """A piece of a part came; returns the place after it. Raises ValueError where its offset is not the part's length,
        or where no facts of the stream have come yet."""
        ...

    def follow(self, stream: str, after: Cursor | None = None) -> AsyncGenerator[tuple[LiveItem, ...], None]:
        """What comes after a cursor, in batches, without gap or repeat.

        Begins with a LiveGap where `after` is None or is no place that the feed can lead on from, and yields another one
        to a consumer that fell behind further than the feed remembers. Memory is bounded whatever consumers do.
        """
        ...
