"""The FactLog port."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncGenerator, Sequence

from ...contracts.ports.store import Append, Arrival, Contents, Head, StoredAnswer
from ...contracts.record import Record
from ..batch import decode_record, draft
from ..chain import StoredBytes
from ..following import Following
from ..salts import Salts
from .appends import append
from .failures import read_only
from .ledger import Ledger, find_end
from .links import read_arrived, read_linked
from .readers import Readers
from .removal import delete, erase, measure, purge, trim
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
    ) -> None:
        self._readers = readers
        self._writer = writer
        self._ledger = ledger
        self._rows = rows
        self._epoch = ledger.epoch
        self._salts = Salts()
        self.following = Following(self._page, self._end, poll=POLL if writer is None else None)

    async def lease(self, stream: str) -> int:
        self._writing()
        return self._epoch

    async def append(self, batch: Append) -> tuple[Record, ...]:
        made = draft(batch, self._salts.draw(len(batch.facts)))
        return await self._writing().submit(
            lambda connection: append(connection, self._ledger, batch, made),
            lambda records: self.following.publish(batch.stream, records),
            followed=batch.followed,
        )

    async def read(
        self, stream: str, *, after: int = 0, limit: int = 1000, until: int | None = None
    ) -> tuple[Record, ...]:
        return await self._readers.run(
            lambda connection: tuple(
                decode_record(stream, fact) for fact in read_linked(connection, stream, after, limit, until)
            )
        )

    async def stored(
        self, stream: str, *, after: int = 0, limit: int = 1000, until: int | None = None
    ) -> tuple[StoredBytes, ...]:
        return await self._readers.run(lambda connection: tuple(read_linked(connection, stream, after, limit, until)))

    async def head(self, stream: str) -> Head:
        return await self._readers.run(lambda connection: find_end(connection, stream).head)

    async def arrivals(self, *, after: int = 0, limit: int = 1000) -> tuple[Arrival, ...]:
        return await self._readers.run(
            lambda connection: tuple(
                Arrival(one.place, decode_record(one.stream, one.stored))
                for one in read_arrived(connection, after, limit)
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
                "SELECT name FROM streams"
                " WHERE name >= :prefix AND substr(name, 1, length(:prefix)) = :prefix AND head > 0 ORDER BY number",
                {"prefix": prefix},
            ).fetchall()
        )
        return tuple(name for (name,) in found)

    async def erase(self, stream: str, sequence: int) -> None:
        erasures = await self._writing().submit(
            lambda connection: erase(connection, self._ledger, stream, sequence), scrub=True
        )
        await self._rows.forget(stream, erasures)

    async def contents(self, stream: str, smallest: int = 0) -> Contents:
        return await self._readers.run(lambda connection: measure(connection, stream, smallest))

    async def trim(self, stream: str, smallest: int) -> Contents:
        return await self._writing().submit(
            lambda connection: trim(connection, self._ledger, stream, smallest), scrub=True
        )

    async def delete(self, stream: str) -> Head:
        writer = self._writing()
        head, erasures = await writer.submit(
            lambda connection: delete(connection, self._ledger, stream), lambda _: self.following.reset(stream)
        )
        await self._rows.forget(stream, erasures)
        while await writer.submit(purge):
            pass
        return head

    async def verify(self, stream: str) -> Head:
        head = await self.head(stream)
        sequence = 0
        while page := await self.stored(stream, after=sequence, limit=_PAGE, until=head.sequence):
            sequence = page[-1].sequence
        return head

    def _writing(self) -> Writer:
        if self._writer is None:
            raise read_only()
        return self._writer

    async def _page(self, stream: str, after: int, limit: int) -> tuple[Record, ...]:
        return await self.read(stream, after=after, limit=limit)

    async def _end(self, stream: str) -> int:
        return (await self.head(stream)).sequence


def _closed(connection: sqlite3.Connection, stream: str, ids: Sequence[str]) -> frozenset[str]:
    number = find_end(connection, stream).number
    return frozenset(
        name
        for name in ids
        if connection.execute("SELECT 1 FROM closed WHERE stream = ? AND id = ?", (number, name)).fetchone()
    )
