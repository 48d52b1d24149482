"""Content-addressed bytes, read, and checked against the hash that they are asked for by."""

from __future__ import annotations

import hashlib
import sqlite3
import threading
from collections import OrderedDict

from ...contracts.errors import Refusal
from .failures import primary_code
from .readers import Readers

#: A blob of at most so many bytes is checked at each read. A larger one is checked once while it is among the last
#: so many that were, because it is read by page.
CHECKED_ALWAYS = 1 << 20
REMEMBERED = 64
_PIECE = 1 << 20


class SqliteBlobs:
    """The BlobStore port."""

    def __init__(self, readers: Readers) -> None:
        self._readers = readers
        self._checked = _Checked()

    async def get(self, hash: str) -> bytes | None:
        if (name := _name(hash)) is None:
            return None
        return await self._readers.run(lambda connection: _whole(connection, name))

    async def get_range(self, hash: str, *, offset: int, length: int) -> bytes | None:
        if (name := _name(hash)) is None:
            return None
        return await self._readers.run(lambda connection: _range(connection, name, offset, length, self._checked))


class _Checked:
    """The large blobs that were checked last; used by the threads that read."""

    def __init__(self) -> None:
        self._names: OrderedDict[bytes, None] = OrderedDict()
        self._lock = threading.Lock()

    def __contains__(self, name: bytes) -> bool:
        with self._lock:
            return name in self._names

    def add(self, name: bytes) -> None:
        with self._lock:
            self._names[name] = None
            if len(self._names) > REMEMBERED:
                self._names.popitem(last=False)


def blob_damaged(hash: str) -> Refusal:
    """Return the refusal of a blob whose bytes are not those that were stored."""
    return Refusal(
        "blob_damaged",
        f"The content {hash} was changed outside Callboard; its bytes are not those that were stored.",
        hint="`callboard check` lists all that is damaged; `callboard restore FILE --replace` puts a backup in place.",
    )


def compute_digest(blob: sqlite3.Blob) -> bytes:
    """Return the SHA-256 of an open blob, and leave it at its end."""
    found = hashlib.sha256()
    while piece := blob.read(_PIECE):
        found.update(piece)
    return found.digest()


def _name(hash: str) -> bytes | None:
    try:
        return bytes.fromhex(hash)
    except ValueError:
        return None


def _whole(connection: sqlite3.Connection, name: bytes) -> bytes | None:
    row = connection.execute("SELECT CAST(data AS BLOB) FROM blobs WHERE hash = ?", (name,)).fetchone()
    if row is None:
        return None
    if hashlib.sha256(row[0]).digest() != name:
        raise blob_damaged(name.hex())
    return row[0]


def _range(connection: sqlite3.Connection, name: bytes, offset: int, length: int, checked: _Checked) -> bytes | None:
    row = connection.execute("SELECT number FROM blobs WHERE hash = ?", (name,)).fetchone()
    if row is None:
        return None
    try:
        with connection.blobopen("blobs", "data", row[0], readonly=True) as data:
            if len(data) <= CHECKED_ALWAYS or name not in checked:
                if compute_digest(data) != name:
                    raise blob_damaged(name.hex())
                if len(data) > CHECKED_ALWAYS:
                    checked.add(name)
            data.seek(min(offset, len(data)))
            return data.read(length)
    except sqlite3.OperationalError as error:
        if primary_code(error) != sqlite3.SQLITE_ERROR:
            raise
        # Dropped between the two statements.
        return None
