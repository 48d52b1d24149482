"""Content-addressed bytes, read."""

from __future__ import annotations

import sqlite3

from .failures import primary
from .readers import Readers


class SqliteBlobs:
    """The BlobStore port."""

    def __init__(self, readers: Readers) -> None:
        self._readers = readers

    async def get(self, hash: str) -> bytes | None:
        if (name := _name(hash)) is None:
            return None
        row = await self._readers.run(
            lambda connection: connection.execute("SELECT data FROM blobs WHERE hash = ?", (name,)).fetchone()
        )
        return None if row is None else row[0]

    async def get_range(self, hash: str, *, offset: int, length: int) -> bytes | None:
        if (name := _name(hash)) is None:
            return None
        return await self._readers.run(lambda connection: _range(connection, name, offset, length))


def _name(hash: str) -> bytes | None:
    try:
        return bytes.fromhex(hash)
    except ValueError:
        return None


def _range(connection: sqlite3.Connection, name: bytes, offset: int, length: int) -> bytes | None:
    row = connection.execute("SELECT number FROM blobs WHERE hash = ?", (name,)).fetchone()
    if row is None:
        return None
    try:
        with connection.blobopen("blobs", "data", row[0], readonly=True) as data:
            data.seek(min(offset, len(data)))
            return data.read(length)
    except sqlite3.OperationalError as error:
        if primary(error) != sqlite3.SQLITE_ERROR:
            raise
        # Dropped between the two statements.
        return None
