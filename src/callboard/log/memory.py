"""The store in memory, for tests and for data of one process. Nothing is durable."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Iterable, Sequence
from itertools import islice

import msgspec

from ..contracts.content import Blob
from ..contracts.live import Frame, Partial
from ..contracts.ports.conversation_store import ConversationStore
from ..contracts.ports.store import (
    Append,
    Arrival,
    BlobStore,
    Contents,
    FactLog,
    Head,
    PartialStore,
    RowStore,
    StoredAnswer,
)
from ..contracts.record import Record, decode_header
from . import chain
from .batch import (
    build_draft,
    build_empty_head,
    build_fenced_refusal,
    build_key_refusal,
    build_required_refusal,
    build_unknown_fact_refusal,
    check_head,
    decode_record,
    is_export_of,
    seal,
)
from .chain import StoredBytes
from .memory_rows import MemoryRows
from .pieces import GatheredPieces, check_offset, gather, list_keys
from .subscriptions import Subscriptions


class MemoryStore:
    """Implements the port `Store` for one writer, with epoch 1."""

    def __init__(self, id: str = "rtm_memory") -> None:
        self.id = id
        self.epoch = 1
        blobs, partials, rows = MemoryBlobs(), MemoryPartials(self.epoch), MemoryRows()
        self._facts = MemoryFacts(self.epoch, blobs, partials, rows)
        self.facts: FactLog = self._facts
        self.blobs: BlobStore = blobs
        self.partials: PartialStore = partials
        self.rows: RowStore = rows
        self.conversations: ConversationStore = rows.conversations

    async def close(self) -> None:
        self._facts.subscriptions.close()


class MemoryBlobs:
    """Blobs by hash, with the facts that refer to them."""

    def __init__(self) -> None:
        self._data: dict[str, bytes] = {}
        self._references: dict[str, set[tuple[str, int]]] = {}

    async def get(self, hash: str) -> bytes | None:
        return self._data.get(hash)

    async def get_range(self, hash: str, *, offset: int, length: int) -> bytes | None:
        data = self._data.get(hash)
        return None if data is None else data[offset : offset + length]

    def store(
        self, stream: str, first: int, blobs: Sequence[Blob], references: Sequence[tuple[int, str]], end: int
    ) -> None:
        """Store the blobs of a batch. The last fact refers to a blob that no fact of the batch names."""
        self._data.update({blob.ref.hash: blob.data for blob in blobs})
        uses = [(hash, first + index) for index, hash in references if hash in self._data]
        uses += [(hash, end) for hash in {blob.ref.hash for blob in blobs} - {hash for _, hash in references}]
        for hash, sequence in uses:
            self._references.setdefault(hash, set()).add((stream, sequence))

    def list_sizes(self, stream: str, min_bytes: int) -> dict[str, int]:
        """Return the size by hash of the stream's blobs with at least `min_bytes`."""
        return {
            hash: len(self._data[hash])
            for hash, facts in self._references.items()
            if len(self._data[hash]) >= min_bytes and any(fact[0] == stream for fact in facts)
        }

    def release(self, stream: str, sequence: int | None = None, hashes: Iterable[str] | None = None) -> None:
        """Drop references of the stream, and blobs without references. Arguments limit it to a fact or to blobs."""
        for hash in list(self._references) if hashes is None else hashes:
            facts = self._references[hash]
            facts -= {fact for fact in facts if fact[0] == stream and sequence in (None, fact[1])}
            if not facts:
                del self._references[hash]
                del self._data[hash]


class MemoryPartials:
    """Partial texts by stream and key."""

    def __init__(self, epoch: int) -> None:
        self._epoch = epoch
        self._parts: dict[str, dict[str, GatheredPieces]] = {}

    async def write(self, stream: str, epoch: int, pieces: Sequence[Frame]) -> None:
        if epoch != self._epoch:
            raise build_fenced_refusal(stream, epoch, self._epoch)
        parts = self._parts.setdefault(stream, {})
        gathered = gather(pieces)
        for key, more in gathered.items():
            check_offset(key, more.offset, len(parts[key].text) if key in parts else 0)
        for key, more in gathered.items():
            part = parts.setdefault(key, more)
            if part is not more:
                part.text += more.text
                part.tool = more.tool or part.tool

    async def read(self, stream: str) -> tuple[Partial, ...]:
        return tuple(
            Partial(kind=part.kind, scope=part.scope, text=part.text, tool=part.tool)
            for part in self._parts.get(stream, {}).values()
        )

    def end(self, stream: str, keys: Sequence[str] | None = None) -> None:
        """Drop the parts with these keys, or all parts of the stream."""
        if keys is None:
            self._parts.pop(stream, None)
        for key in keys or ():
            self._parts.get(stream, {}).pop(key, None)


class _Stream(msgspec.Struct):
    head: Head
    facts: list[StoredBytes] = msgspec.field(default_factory=list[StoredBytes])
    closed: set[str] = msgspec.field(default_factory=set[str])


class _Answer(msgspec.Struct):
    stored: StoredAnswer
    stream: str
    first: int
    last: int


class MemoryFacts:
    """The facts of all streams."""

    def __init__(self, epoch: int, blobs: MemoryBlobs, partials: MemoryPartials, rows: MemoryRows) -> None:
        self._epoch = epoch
        self._blobs = blobs
        self._partials = partials
        self._rows = rows
        self._streams: dict[str, _Stream] = {}
        self._answers: dict[str, _Answer] = {}
        self._arrived: list[tuple[str, _Stream, int]] = []
        self.subscriptions = Subscriptions(self.read, self.read_head)

    async def acquire_lease(self, stream: str) -> int:
        return self._epoch

    async def append(self, batch: Append) -> tuple[Record, ...]:
        stream = self._streams.get(batch.stream) or _Stream(head=build_empty_head(batch.stream))
        check_head(batch, stream.head, self._epoch)
        if batch.requires and batch.requires not in self._streams:
            raise build_required_refusal(batch.requires)
        if batch.answer is not None and batch.answer.key in self._answers:
            raise build_key_refusal(batch.answer.key)
        draft = build_draft(batch, os.urandom(chain.SALT_BYTES * len(batch.facts)))
        sealed = seal(batch, draft, stream.head)
        first = stream.head.sequence + 1
        self._streams[batch.stream] = stream
        stream.head = sealed.head
        stream.facts += [StoredBytes(*line[1:]) for line in sealed.lines]
        self._arrived += [(batch.stream, stream, sequence) for sequence in range(first, len(stream.facts) + 1)]
        stream.closed.update(batch.closed)
        self._blobs.store(batch.stream, first, batch.blobs, draft.references, sealed.head.sequence)
        self._partials.end(batch.stream, batch.ends)
        if batch.answer is not None:
            self._answers[batch.answer.key] = _Answer(batch.answer, batch.stream, first, sealed.head.sequence)
        self.subscriptions.publish(batch.stream, sealed.records)
        return sealed.records

    async def read(
        self, stream: str, *, after: int = 0, limit: int = 1000, until: int | None = None
    ) -> tuple[Record, ...]:
        facts = await self.read_bytes(stream, after=after, limit=limit, until=until)
        return tuple(decode_record(stream, fact) for fact in facts)

    async def read_bytes(
        self, stream: str, *, after: int = 0, limit: int = 1000, until: int | None = None
    ) -> tuple[StoredBytes, ...]:
        end = after + limit if until is None else min(after + limit, until)
        return tuple(self._list_facts(stream)[after : max(after, end)])

    async def read_head(self, stream: str) -> Head:
        return self._streams[stream].head if stream in self._streams else build_empty_head(stream)

    async def read_arrivals(self, *, after: int = 0, limit: int = 1000) -> tuple[Arrival, ...]:
        arrivals = (
            Arrival(position, decode_record(name, stream.facts[sequence - 1]))
            for position, (name, stream, sequence) in enumerate(self._arrived[after:], after + 1)
            if self._streams.get(name) is stream
        )
        return tuple(islice(arrivals, limit))

    async def read_newest_position(self) -> int:
        return len(self._arrived)

    def subscribe(self, stream: str, *, after: int = 0) -> AsyncGenerator[tuple[Record, ...], None]:
        return self.subscriptions.follow(stream, after)

    async def find_answer(self, key: str) -> StoredAnswer | None:
        answer = self._answers.get(key)
        return None if answer is None else answer.stored

    async def find_closed(self, stream: str, ids: Sequence[str]) -> frozenset[str]:
        return frozenset(ids) & (self._streams[stream].closed if stream in self._streams else frozenset[str]())

    async def list_streams(self, prefix: str) -> tuple[str, ...]:
        return tuple(name for name, stream in self._streams.items() if name.startswith(prefix) and stream.head.sequence)

    async def read_heads(self, prefix: str) -> dict[str, int]:
        return {name: self._streams[name].head.sequence for name in await self.list_streams(prefix)}

    async def erase(self, stream: str, sequence: int) -> None:
        facts = self._list_facts(stream)
        if not 1 <= sequence <= len(facts):
            raise build_unknown_fact_refusal(stream, sequence)
        fact = facts[sequence - 1]
        facts[sequence - 1] = chain.erase(fact)
        self._blobs.release(stream, sequence)
        for later in facts[sequence:]:
            if is_export_of(later.header, later.payload, sequence):
                self._blobs.release(stream, later.sequence)
        self._partials.end(stream, list_keys(decode_header(fact.header).scope))
        for answer in self._answers.values():
            if answer.stream == stream and answer.first <= sequence <= answer.last:
                answer.stored = StoredAnswer(key=answer.stored.key, body_hash="", answer=b"")
        self.subscriptions.reset(stream)
        await self._rows.clear(stream)

    async def measure_contents(self, stream: str, min_bytes: int = 0) -> Contents:
        sizes = self._blobs.list_sizes(stream, min_bytes)
        size = sum(len(fact.header) + len(fact.payload or b"") for fact in self._list_facts(stream))
        return Contents(facts=size, blobs=len(sizes), size=sum(sizes.values()))

    async def trim(self, stream: str, min_bytes: int) -> Contents:
        self._rows.conversations.forget(stream)
        sizes = self._blobs.list_sizes(stream, min_bytes)
        self._blobs.release(stream, hashes=sizes)
        return Contents(blobs=len(sizes), size=sum(sizes.values()))

    async def delete(self, stream: str) -> Head:
        deleted = self._streams.pop(stream, None)
        self._blobs.release(stream)
        self._partials.end(stream)
        self._answers = {key: answer for key, answer in self._answers.items() if answer.stream != stream}
        await self._rows.clear(stream)
        self.subscriptions.reset(stream)
        return build_empty_head(stream) if deleted is None else deleted.head

    async def verify(self, stream: str) -> Head:
        head = await self.read_head(stream)
        last = chain.check(stream, 0, chain.begin_chain(stream), self._list_facts(stream))
        chain.check_end(stream, (head.sequence, head.link), last)
        return head

    def _list_facts(self, stream: str) -> list[StoredBytes]:
        return self._streams[stream].facts if stream in self._streams else []
