"""Ports of the store: facts, blobs, partials, rows and conversations, with one lease.

Every backend passes the same suite (`tests/log/suite`). All calls are coroutines for one event
loop; blocking work runs in other threads. Sequences count from 1 within a stream, without gaps.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Protocol

import msgspec

from ..chain import StoredBytes
from ..content import Blob
from ..live import Frame, Partial
from ..record import NewFact, Origin, Record
from ..rows.base import Op, Row
from .conversation_store import ConversationStore


class Head(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The end of a stream.

    `sequence` is 0 for an empty stream. `at` is the time of the newest fact in microseconds.
    """

    sequence: int
    link: bytes
    at: int = 0


class Contents(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The size of a stream: bytes of its facts, and number and bytes of its blobs."""

    facts: int = 0
    blobs: int = 0
    size: int = 0


class StoredAnswer(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The answer of a command, stored with its key. `body_hash` is the SHA-256 of the decoded command in hex."""

    key: str
    body_hash: str
    answer: bytes


class Append(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A batch for one stream, stored completely or not at all.

    Attributes:
        expected: Present sequence of the stream.
        epoch: Lease of the writer.
        closed: Ids of the entities that are terminal after the batch.
        ends: Keys of the partials that the batch finishes.
        followed: A batch of another stream follows immediately. The store may wait a moment and commit
            both together.
        requires: A stream that must have facts. Without them, the batch is refused with
            `unknown_session`.
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
    requires: str = ""


class Arrival(msgspec.Struct, frozen=True, gc=False):
    """A fact with its position in the store.

    Positions only increase. A position is not reused while the deleted stream leaves a fact in another
    stream.
    """

    position: int
    record: Record


class FactLog(Protocol):
    """The append-only, hash-chained facts, with one sequence per stream."""

    async def acquire_lease(self, stream: str) -> int:
        """Return the epoch with which this process may append to the stream.

        Raises:
            Refusal: `read_only` for a reader.
        """
        ...

    async def append(self, batch: Append) -> tuple[Record, ...]:
        """Store the batch, and return its records once they are durable.

        Raises:
            Refusal: `conflict` if the stream is not at `expected`, `fenced` if the epoch is stale,
                `idempotency_conflict` if the answer's key exists, `unknown_session` if the stream that
                the batch requires has no facts, `read_only`, or `store_full`.
        """
        ...

    async def read(
        self, stream: str, *, after: int = 0, limit: int = 1000, until: int | None = None
    ) -> tuple[Record, ...]:
        """Return facts after a sequence, oldest first, up to and including `until`, with their links checked.

        Raises:
            Refusal: `chain_broken` with the first fact that does not fit.
        """
        ...

    async def read_bytes(
        self, stream: str, *, after: int = 0, limit: int = 1000, until: int | None = None
    ) -> tuple[StoredBytes, ...]:
        """Return the same facts as their stored bytes."""
        ...

    async def read_head(self, stream: str) -> Head:
        """Return the end of the stream; sequence 0 if it does not exist."""
        ...

    async def read_arrivals(self, *, after: int = 0, limit: int = 1000) -> tuple[Arrival, ...]:
        """Return facts of all streams after a position, in the order in which they became durable.

        Facts of deleted streams are left out.
        """
        ...

    async def read_newest_position(self) -> int:
        """Return the position of the newest fact; 0 for an empty store."""
        ...

    def subscribe(self, stream: str, *, after: int = 0) -> AsyncGenerator[tuple[Record, ...], None]:
        """Yield all facts after the sequence in batches, stored ones and then new ones, without gap or repeat.

        Ends when the store closes.

        Raises:
            Refusal: `gap` if the stream ends before `after`, as after its deletion.
        """
        ...

    async def find_answer(self, key: str) -> StoredAnswer | None:
        """Return the answer stored with an idempotency key."""
        ...

    async def find_closed(self, stream: str, ids: Sequence[str]) -> frozenset[str]:
        """Return those of the ids whose entities in the stream are terminal."""
        ...

    async def list_streams(self, prefix: str) -> tuple[str, ...]:
        """Return the names of the streams with this prefix, oldest first."""
        ...

    async def read_heads(self, prefix: str) -> dict[str, int]:
        """Return the newest sequence of each stream with this prefix, oldest stream first."""
        ...

    async def erase(self, stream: str, sequence: int) -> None:
        """Erase a fact's payload with its salt, the blobs that only it refers to, and the evidence packs that include it.

        The chain still verifies. The rows, snapshot and conversations of the stream are deleted. The
        stream must not be open, because its state would keep the erased content.
        """
        ...

    async def measure_contents(self, stream: str, min_bytes: int = 0) -> Contents:
        """Return the size of the stream. Blobs below `min_bytes` do not count."""
        ...

    async def trim(self, stream: str, min_bytes: int) -> Contents:
        """Delete the stream's large blobs, free the space, and return what was deleted.

        Blobs below `min_bytes` and blobs that other streams refer to stay, as do the facts. The
        conversations of the stream are deleted, because they contain text of blobs.
        """
        ...

    async def delete(self, stream: str) -> Head:
        """Delete a stream with all its data, and free the space. Return its end."""
        ...

    async def verify(self, stream: str) -> Head:
        """Check the whole chain of the stream.

        Raises:
            Refusal: `chain_broken` with the first sequence that does not fit.
        """
        ...


class BlobStore(Protocol):
    """Content-addressed bytes. Blobs are stored with the facts that refer to them (`Append.blobs`)."""

    async def get(self, hash: str) -> bytes | None:
        """Return the bytes; None if there is no such blob.

        Raises:
            Refusal: `blob_damaged` if the bytes do not match the hash.
        """
        ...

    async def get_range(self, hash: str, *, offset: int, length: int) -> bytes | None:
        """Return a part of the bytes.

        Raises:
            Refusal: `blob_damaged`, as `get`.
        """
        ...


class PartialStore(Protocol):
    """Stored text of unfinished parts."""

    async def write(self, stream: str, epoch: int, pieces: Sequence[Frame]) -> None:
        """Append pieces to the stream's partials. Pieces of one part must be in order of their offset."""
        ...

    async def read(self, stream: str) -> tuple[Partial, ...]:
        """Return the partials of the stream."""
        ...


class Views(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Progress of a stream's rows: `watermark` is the newest sequence that they include, `state` continues the fold.

    `fingerprint` identifies the code that made them; other code must not use them.
    """

    watermark: int
    fingerprint: str
    state: bytes


class RowStore(Protocol):
    """View rows and snapshots: written behind the log, and discarded if they do not match it.

    For damaged rows the store discards all rows of their stream, logs the reason and raises Refusal
    `rows_damaged`. It then accepts no rows of that stream until `read_views` is called again, because
    partial rows would look complete.
    """

    def is_discarded(self, stream: str) -> bool:
        """Return True if damaged rows of the stream were found since the last `read_views`."""
        ...

    async def write(self, stream: str, ops: Sequence[Op], views: Views) -> None:
        """Apply the operations and move the watermark, in one transaction."""
        ...

    async def read_views(self, stream: str) -> Views | None:
        """Return the progress of the stream's rows; None for no rows, or damaged ones."""
        ...

    async def read_rows(
        self, stream: str, panel: str, *, before: int | None = None, limit: int = 1000, max_bytes: int = 1_000_000
    ) -> tuple[Row, ...]:
        """Return the newest rows of a panel with `order` below `before`, in order: at most `limit` rows and `max_bytes`."""
        ...

    async def read_row(self, stream: str, panel: str, key: str) -> Row | None:
        """Return one row."""
        ...

    async def read_all_rows(
        self, panel: str, fingerprint: str, heads: Mapping[str, int] | None = None
    ) -> tuple[Row, ...]:
        """Return the rows of a panel in all streams, newest order first.

        Args:
            fingerprint: Rows of other fingerprints are omitted.
            heads: The newest sequence of each stream. Rows that do not show it are omitted.
        """
        ...

    async def clear(self, stream: str) -> None:
        """Delete the stream's rows, watermark, snapshot and conversations, to be folded again."""
        ...

    async def save_snapshot(self, stream: str, sequence: int, link: bytes, fingerprint: str, state: bytes) -> None:
        """Store the deciders' state at a sequence."""
        ...

    async def read_snapshot(self, stream: str, fingerprint: str) -> tuple[int, bytes, bytes] | None:
        """Return the stored state as (sequence, link, state); None for another fingerprint or a damaged one."""
        ...


class Store(Protocol):
    """The store of a user, with all workspaces and sessions. `id` is permanent. `epoch` counts its writers."""

    @property
    def id(self) -> str:
        """Return the permanent id."""
        ...

    @property
    def epoch(self) -> int:
        """Return the number of this writer."""
        ...

    @property
    def facts(self) -> FactLog:
        """Return the log of facts."""
        ...

    @property
    def blobs(self) -> BlobStore:
        """Return the store of large contents."""
        ...

    @property
    def partials(self) -> PartialStore:
        """Return the store of live text."""
        ...

    @property
    def rows(self) -> RowStore:
        """Return the store of rows."""
        ...

    @property
    def conversations(self) -> ConversationStore:
        """Return the store of conversations."""
        ...

    async def close(self) -> None:
        """Finish the accepted work and release the lease."""
        ...
