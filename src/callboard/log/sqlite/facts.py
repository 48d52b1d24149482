"""The facts of a store, and random salts for them."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import AsyncGenerator, Sequence

from ...contracts.ports.store import Append, Arrival, Contents, Head, StoredAnswer
from ...contracts.record import Record
from ..batch import build_draft, decode_record
from ..chain import SALT_BYTES, StoredBytes
from ..subscriptions import Subscriptions
from .appends import append
from .failures import build_read_only_refusal
from .ledger import Ledger, find_end
from .links import read_arrivals, read_linked
from .readers import Readers
from .removal import delete, erase, measure, purge, trim
from .views.rows import SqliteRows
from .writer import Writer

#: Facts that `verify` checks in one transaction.
_PAGE = 2000
#: Seconds between two reads of a follower in a process that only reads.
POLL = 0.1
#: The most facts whose statements take less time than a commit. A turn's batches have fewer, an import's more.
_BRIEF = 64
#: The number of salts in a block.
_BLOCK = 512


class Salts:
    """Random bytes, each used once. Blocks save a system call for each append."""

    def __init__(self) -> None:
        self._block = b""
        self._at = 0

    def draw(self, count: int) -> bytes:
        """Return the bytes of `count` salts."""
        size = count * SALT_BYTES
        if self._at + size > len(self._block):
            self._block = os.urandom(max(size, _BLOCK * SALT_BYTES))
            self._at = 0
        self._at += size
        return self._block[self._at - size : self._at]


class SqliteFacts:
    """Implements the port `FactLog`. `writer` is None in a process that only reads."""

    def __init__(self, readers: Readers, writer: Writer | None, ledger: Ledger, rows: SqliteRows) -> None:
        self._readers = readers
        self._writer = writer
        self._ledger = ledger
        self._rows = rows
        self._epoch = ledger.epoch
        self._salts = Salts()
        self.subscriptions = Subscriptions(self.read, self.read_head, poll=POLL if writer is None else None)

    async def acquire_lease(self, stream: str) -> int:
        self._require_writer()
        return self._epoch

    async def append(self, batch: Append) -> tuple[Record, ...]:
        draft = build_draft(batch, self._salts.draw(len(batch.facts)))
        return await self._require_writer().submit(
            lambda connection: append(connection, self._ledger, batch, draft),
            lambda records: self.subscriptions.publish(batch.stream, records),
            followed=batch.followed,
            brief=len(batch.facts) <= _BRIEF,
        )

    async def read(
        self, stream: str, *, after: int = 0, limit: int = 1000, until: int | None = None
    ) -> tuple[Record, ...]:
        def read(connection: sqlite3.Connection) -> tuple[Record, ...]:
            return tuple(decode_record(stream, fact) for fact in read_linked(connection, stream, after, limit, until))

        return await self._readers.run(read)

    async def read_bytes(
        self, stream: str, *, after: int = 0, limit: int = 1000, until: int | None = None
    ) -> tuple[StoredBytes, ...]:
        return await self._readers.run(lambda connection: tuple(read_linked(connection, stream, after, limit, until)))

    async def read_head(self, stream: str) -> Head:
        return await self._readers.run(lambda connection: find_end(connection, stream).head)

    async def read_arrivals(self, *, after: int = 0, limit: int = 1000) -> tuple[Arrival, ...]:
        return await self._readers.run(lambda connection: read_arrivals(connection, after, limit))

    async def read_newest_position(self) -> int:
        query = "SELECT coalesce(max(position), 0) FROM facts"
        return (await self._readers.run(lambda connection: connection.execute(query).fetchone()))[0]

    def subscribe(self, stream: str, *, after: int = 0) -> AsyncGenerator[tuple[Record, ...], None]:
        return self.subscriptions.follow(stream, after)

    async def find_answer(self, key: str) -> StoredAnswer | None:
        query = "SELECT body_hash, answer FROM answers WHERE key = ?"
        row = await self._readers.run(lambda connection: connection.execute(query, (key,)).fetchone())
        return None if row is None else StoredAnswer(key=key, body_hash=row[0], answer=row[1])

    async def find_closed(self, stream: str, ids: Sequence[str]) -> frozenset[str]:
        return await self._readers.run(lambda connection: _read_closed(connection, stream, ids))

    async def list_streams(self, prefix: str) -> tuple[str, ...]:
        return tuple(await self.read_heads(prefix))

    async def read_heads(self, prefix: str) -> dict[str, int]:
        query = (
            "SELECT name, head FROM streams WHERE name >= :prefix AND substr(name, 1, length(:prefix)) = :prefix"
            " AND head > 0 ORDER BY number"
        )
        rows = await self._readers.run(lambda connection: connection.execute(query, {"prefix": prefix}).fetchall())
        return dict(rows)

    async def erase(self, stream: str, sequence: int) -> None:
        erasures = await self._require_writer().submit(
            lambda connection: erase(connection, self._ledger, stream, sequence),
            lambda _: self.subscriptions.reset(stream),
            scrub=True,
        )
        await self._rows.forget(stream, erasures)

    async def measure_contents(self, stream: str, min_bytes: int = 0) -> Contents:
        return await self._readers.run(lambda connection: measure(connection, stream, min_bytes))

    async def trim(self, stream: str, min_bytes: int) -> Contents:
        # First, so that an interruption leaves no conversation with text that is not in the log.
        await self._rows.conversations.forget(stream)
        return await self._require_writer().submit(
            lambda connection: trim(connection, self._ledger, stream, min_bytes), scrub=True
        )

    async def delete(self, stream: str) -> Head:
        writer = self._require_writer()
        head, erasures = await writer.submit(
            lambda connection: delete(connection, self._ledger, stream), lambda _: self.subscriptions.reset(stream)
        )
        await self._rows.forget(stream, erasures)
        while await writer.submit(purge):
            pass
        return head

    async def verify(self, stream: str) -> Head:
        head = await self.read_head(stream)
        sequence = 0
        while page := await self.read_bytes(stream, after=sequence, limit=_PAGE, until=head.sequence):
            sequence = page[-1].sequence
        return head

    def _require_writer(self) -> Writer:
        if self._writer is None:
            raise build_read_only_refusal()
        return self._writer


def _read_closed(connection: sqlite3.Connection, stream: str, ids: Sequence[str]) -> frozenset[str]:
    number = find_end(connection, stream).number
    query = "SELECT 1 FROM closed WHERE stream = ? AND id = ?"
    return frozenset(id for id in ids if connection.execute(query, (number, id)).fetchone())
