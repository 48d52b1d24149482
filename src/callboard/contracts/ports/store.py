"""The store: facts, blobs, partials and rows behind four small ports with one lease.

Every backend passes the same suite (`tests/log/suite`). All calls are coroutines and may be made from one event loop only;
blocking work happens elsewhere. Sequences count from 1 within a stream and have no gap.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Protocol

import msgspec

from ..chain import StoredBytes
from ..content import Blob
from ..live import Frame, Partial
from ..record import NewFact, Origin, Record
from ..rows.base import Op, Row

#: The link before the first fact of a stream is derived from the stream's name by `contracts.chain`.
LINK_BYTES = 32


class Head(msgspec.Struct, frozen=True, kw_only=True):
    """The end of a stream. `sequence` 0 means that the stream has no fact; `at` is the newest fact's time."""

    sequence: int
    link: bytes
    at: int = 0


class Contents(msgspec.Struct, frozen=True, kw_only=True):
    """What a stream holds: its facts in bytes, and how many blobs it refers to, of how many bytes together."""

    facts: int = 0
    blobs: int = 0
    size: int = 0


class StoredAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer that a command got, kept with its key. `body_hash` is the SHA-256 of the decoded command, in hex."""

    key: str
    body_hash: str
    answer: bytes


class Append(msgspec.Struct, frozen=True, kw_only=True):
    """One batch for one stream: all of it is stored or none.

    `expected` is the sequence that the stream must have; `epoch` the lease under which the writer acts. `closed` are
    the ids of the entities that are terminal with this batch. `ends` are the keys of the partials that the batch finishes.
    `followed` says that a batch of another stream follows at once: a store may wait a moment to make both durable together.
    """

    stream: str
    expected: int
    epoch: int
    facts: tuple[NewFact, ...]
    origin: Origin
    blobs: tuple[Blob, ...] = ()
    answer: StoredAnswer | None = None
    closed: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()
    followed: bool = False


class Arrival(msgspec.Struct, frozen=True):
    """A fact and its place among all facts of the store: a number that only rises, and that no other fact gets as long as
    a deletion leaves a fact of its own in another stream."""

    place: int
    record: Record


class FactLog(Protocol):
    """The append-only facts, one sequence a stream, hash-chained."""

    async def lease(self, stream: str) -> int:
        """The epoch under which this process may append to the stream. Raises Refusal `read_only` for a reader."""
        ...

    async def append(self, batch: Append) -> tuple[Record, ...]:
        """Stores the batch and returns its records once they are durable.

        Raises Refusal `conflict` where the stream is not at `expected`, `fenced` where `epoch` is no longer the stream's,
        `idempotency_conflict` where the answer's key is taken, `read_only`, `store_full`.
        """
        ...

    async def read(
        self, stream: str, *, after: int = 0, limit: int = 1000, until: int | None = None
    ) -> tuple[Record, ...]:
        """The facts after a sequence, oldest first, at most `limit`, up to and including `until`. Each was checked to follow
        from the one before it. Raises Refusal `chain_broken` naming the first that does not."""
        ...

    async def stored(
        self, stream: str, *, after: int = 0, limit: int = 1000, until: int | None = None
    ) -> tuple[StoredBytes, ...]:
        """The same facts as the very bytes that are kept and chained."""
        ...

    async def head(self, stream: str) -> Head:
        """The end of the stream; of one that does not exist, sequence 0."""
        ...

    async def arrivals(self, *, after: int = 0, limit: int = 1000) -> tuple[Arrival, ...]:
        """The facts of all streams after a place, at most `limit`, in the order in which they became durable: what comes
        later has a higher place. Facts of streams that were deleted are not among them."""
        ...

    async def newest(self) -> int:
        """The place of the newest fact; 0 where there is none."""
        ...

    def subscribe(self, stream: str, *, after: int = 0) -> AsyncGenerator[tuple[Record, ...], None]:
        """Every fact after the sequence, in batches, first those stored and then those to come, without gap or repeat.

        Ends when the store is closed. Raises Refusal `gap` where the stream ends before `after`, as it does once deleted.
        """
        ...

    async def answer(self, key: str) -> StoredAnswer | None:
        """The answer kept under an idempotency key."""
        ...

    async def closed(self, stream: str, ids: Sequence[str]) -> frozenset[str]:
        """Which of the ids name entities of the stream that are terminal."""
        ...

    async def streams(self, prefix: str) -> tuple[str, ...]:
        """The names of the streams that begin so, oldest first."""
        ...

    async def erase(self, stream: str, sequence: int) -> None:
        """Erases one fact's payload with its salt, the blobs that only it referred to, and the packs of evidence that show it.
        The chain still verifies. The stream's rows and snapshot are thrown away: nobody may have the stream open, since what is
        folded already still tells what was erased."""
        ...

    async def contents(self, stream: str, smallest: int = 0) -> Contents:
        """How large the stream is. Of blobs only those of at least so many bytes count."""
        ...

    async def trim(self, stream: str, smallest: int) -> Contents:
        """Lets the stream's blobs of at least so many bytes go, but for those that other streams refer to, and gives the space
        back. The facts stay as they are; returns what went from this stream."""
        ...

    async def delete(self, stream: str) -> Head:
        """Deletes a stream with all that belongs to it and gives the space back; returns what its end was."""
        ...

    async def verify(self, stream: str) -> Head:
        """Checks the whole chain of the stream. Raises Refusal `chain_broken` naming the first sequence that does not fit."""
        ...


class BlobStore(Protocol):
    """Content-addressed bytes. Blobs are put with the facts that refer to them (`Append.blobs`)."""

    async def get(self, hash: str) -> bytes | None:
        """The bytes, or None where there are none of that hash. Raises Refusal `blob_damaged` where they are not those that
        were put."""
        ...

    async def get_range(self, hash: str, *, offset: int, length: int) -> bytes | None:
        """A part of the bytes, so that large output is read by page. Raises Refusal `blob_damaged`, as `get`."""
        ...


class PartialStore(Protocol):
    """Parts in the making, as far as they were kept."""

    async def write(self, stream: str, epoch: int, pieces: Sequence[Frame]) -> None:
        """Appends pieces to the stream's partials. Pieces of one part must come in order of their offset."""
        ...

    async def read(self, stream: str) -> tuple[Partial, ...]:
        """The partials of the stream."""
        ...


class Views(msgspec.Struct, frozen=True, kw_only=True):
    """How far the rows of a stream are: `watermark` is the newest sequence they show, `state` what folding on needs.

    `fingerprint` names the code that made them: other code must not use them.
    """

    watermark: int
    fingerprint: str
    state: bytes


class RowStore(Protocol):
    """View rows and snapshots: written behind the log, never believed over it, discarded where they do not fit.

    Where stored rows turn out to be damaged, the store discards all rows of their stream, logs the reason, and raises
    Refusal `rows_damaged`. It then takes no rows of that stream until `views` is read again: rows without those before
    them would be taken for the whole.
    """

    def discarded(self, stream: str) -> bool:
        """True where the stream's rows were found damaged since its `views` were read."""
        ...

    async def write(self, stream: str, ops: Sequence[Op], views: Views) -> None:
        """Applies the operations and moves the watermark, together."""
        ...

    async def views(self, stream: str) -> Views | None:
        """The watermark of the stream's rows, or None where there are no rows, or damaged ones."""
        ...

    async def rows(
        self, stream: str, panel: str, *, before: int | None = None, limit: int = 1000, largest: int = 1_000_000
    ) -> tuple[Row, ...]:
        """The newest rows of a panel with `order` below `before`, in their order: at most `limit` and `largest` bytes."""
        ...

    async def row(self, stream: str, panel: str, key: str) -> Row | None:
        """One row."""
        ...

    async def across(self, panel: str, fingerprint: str) -> tuple[Row, ...]:
        """The rows of one panel in all streams, newest order first; only whole ones that code of this fingerprint made."""
        ...

    async def clear(self, stream: str) -> None:
        """Throws the stream's rows, watermark and snapshot away, to be folded anew."""
        ...

    async def save_snapshot(self, stream: str, sequence: int, link: bytes, fingerprint: str, state: bytes) -> None:
        """Keeps the deciders' state as of a sequence."""
        ...

    async def snapshot(self, stream: str, fingerprint: str) -> tuple[int, bytes, bytes] | None:
        """The kept state as (sequence, link, state), or None where there is none of that fingerprint, or a damaged one."""
        ...


class Store(Protocol):
    """One store for a user: every workspace and session. `id` names it for ever; `epoch` counts its writers."""

    @property
    def id(self) -> str: ...

    @property
    def epoch(self) -> int: ...

    @property
    def facts(self) -> FactLog: ...

    @property
    def blobs(self) -> BlobStore: ...

    @property
    def partials(self) -> PartialStore: ...

    @property
    def rows(self) -> RowStore: ...

    async def close(self) -> None:
        """Finishes what was accepted and lets the lease go."""
        ...
