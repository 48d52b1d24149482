"""The FactLog port."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncGenerator, Sequence
from typing import Any

from ...contracts.ports.store import Append, Arrival, Contents, Head, StoredAnswer
from ...contracts.record import Record
from .. import chain
from ..batch import draft, nothing, record_of
from ..chain import Stored
from ..following import Following
from ..salts import Salts
from .appends import append
from .failures import read_only
from .ledger import Ledger, find_end
from .readers import Readers
from .removal import contents, delete, erase, purge, trim
from .rows import SqliteRows
from .writer import Writer

#: How many facts `verify` checks in one reading transaction.
_PAGE = 2000
#: How often a follower in a process that only reads looks whether there is more, in seconds.
POLL = 0.1


class SqliteFacts:
    """Facts, read by the readers and written by the writer; `writer` is None where the store is only read."""

    def __init__(
        self,
        readers: Readers,
        writer: Writer | None,
        ledger: Ledger,
        rows: SqliteRows,
        *,
        fence: bool,
    ) -> None:
        self._readers = readers
        self._writer = writer
        self._ledger = ledger
        self._rows = rows
        self._fence = fence
        self._epoch = ledger.epoch
        self._salts = Salts()
        self.following = Following(self._page, self._end, poll=POLL if writer is None else None)

    async def lease(self, stream: str) -> int:
        self._writing()
        return self._epoch

    async def append(self, batch: Append) -> tuple[Record, ...]:
        made = draft(batch, self._salts.take(len(batch.facts)))
        return await self._writing().do(
            lambda connection: append(connection, self._ledger, batch, made, fence=self._fence),
            lambda records: self.following.appended(batch.stream, records),
            followed=batch.followed,
        )

    async def read(
        self, stream: str, *, after: int = 0, limit: int = 1000, until: int | None = None
    ) -> tuple[Record, ...]:
        return await self._readers.run(
            lambda connection: tuple(
                record_of(stream, fact) for fact in _stored(connection, stream, after, limit, until)
            )
        )

    async def stored(
        self, stream: str, *, after: int = 0, limit: int = 1000, until: int | None = None
    ) -> tuple[Stored, ...]:
        return await self._readers.run(lambda connection: tuple(_stored(connection, stream, after, limit, until)))

    async def head(self, stream: str) -> Head:
        return await self._readers.run(lambda connection: find_end(connection, stream).head)

    async def arrivals(self, *, after: int = 0, limit: int = 1000) -> tuple[Arrival, ...]:
        return await self._readers.run(
            lambda connection: tuple(
                Arrival(place, record_of(name, Stored(*row)))
                for place, name, *row in _arrived(connection, after, limit)
            )
        )

    async def newest(self) -> int:
        row = await self._readers.run(
            lambda connection: connection.execute("SELECT max(position) FROM facts").fetchone()
        )
        return row[0] or 0

    def subscribe(self, stream: str, *, after: int = 0) -> AsyncGenerator[tuple[Record, ...], None]:
        return self.following.follow(stream, after)

    async def answer(self, key: str) -> StoredAnswer | None:
        row = await self._readers.run(
            lambda connection: connection.execute(
                "SELECT body_hash, answer FROM answers WHERE key = ?", (key,)
            ).fetchone()
        )
        return None if row is None else StoredAnswer(key=key, body_hash=row[0], answer=row[1])

    async def closed(self, stream: str, ids: Sequence[str]) -> frozenset[str]:
        return await self._readers.run(lambda connection: _closed(connection, stream, ids))

    async def streams(self, prefix: str) -> tuple[str, ...]:
        found = await self._readers.run(
            lambda connection: connection.execute(
                "SELECT name FROM streams WHERE name >= ?1 AND substr(name, 1, length(?1)) = ?1 AND head > 0 ORDER BY number",
                (prefix,),
            ).fetchall()
        )
        return tuple(name for (name,) in found)

    async def erase(self, stream: str, sequence: int) -> None:
        erasures = await self._writing().do(
            lambda connection: erase(connection, self._ledger, stream, sequence), scrub=True
        )
        await self._rows.forget(stream, erasures)

    async def contents(self, stream: str, smallest: int = 0) -> Contents:
        return await self._readers.run(lambda connection: contents(connection, stream, smallest))

    async def trim(self, stream: str, smallest: int) -> Contents:
        return await self._writing().do(lambda connection: trim(connection, self._ledger, stream, smallest), scrub=True)

    async def delete(self, stream: str) -> Head:
        writer = self._writing()
        head, erasures = await writer.do(
            lambda connection: delete(connection, self._ledger, stream), lambda _: self.following.deleted(stream)
        )
        await self._rows.forget(stream, erasures)
        while await writer.do(purge):
            pass
        return head

    async def verify(self, stream: str) -> Head:
        head = await self.head(stream)
        sequence, link = 0, nothing(stream).link
        while sequence < head.sequence:
            after, previous = sequence, link
            sequence, link = await self._readers.run(
                lambda connection, after=after, previous=previous: chain.check(
                    stream, after, previous, _stored(connection, stream, after, _PAGE, head.sequence)
                )
            )
            if sequence == after:
                break
        chain.check_end(stream, (head.sequence, head.link), (sequence, link))
        return head

    def _writing(self) -> Writer:
        if self._writer is None:
            raise read_only()
        return self._writer

    async def _page(self, stream: str, after: int, limit: int) -> tuple[Record, ...]:
        return await self.read(stream, after=after, limit=limit)

    async def _end(self, stream: str) -> int:
        return (await self.head(stream)).sequence


def _stored(connection: sqlite3.Connection, stream: str, after: int, limit: int, until: int | None) -> list[Stored]:
    # What somebody turned into text outside is compared by its bytes like everything else.
    found = connection.execute(
        "SELECT sequence, CAST(header AS BLOB), CAST(link AS BLOB), CAST(seal AS BLOB), CAST(payload AS BLOB) FROM facts"
        " WHERE stream = (SELECT number FROM streams WHERE name = ?) AND sequence > ? AND sequence <= ?"
        " ORDER BY sequence LIMIT ?",
        (stream, after, (1 << 62) if until is None else until, limit),
    )
    return [Stored(*row) for row in found]


def _arrived(connection: sqlite3.Connection, after: int, limit: int) -> list[tuple[Any, ...]]:
    # CROSS JOIN keeps the order of the tables: the facts in theirs, and of each its stream.
    return connection.execute(
        "SELECT position, name, sequence, CAST(header AS BLOB), CAST(facts.link AS BLOB), CAST(seal AS BLOB),"
        " CAST(payload AS BLOB) FROM facts CROSS JOIN streams ON number = stream"
        " WHERE position > ? AND name IS NOT NULL ORDER BY position LIMIT ?",
        (after, limit),
    ).fetchall()


def _closed(connection: sqlite3.Connection, stream: str, ids: Sequence[str]) -> frozenset[str]:
    number = find_end(connection, stream).number
    return frozenset(
        name
        for name in ids
        if connection.execute("SELECT 1 FROM closed WHERE stream = ? AND id = ?", (number, name)).fetchone()
    )
