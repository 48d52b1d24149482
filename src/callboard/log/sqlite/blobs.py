"""Reads of content-addressed bytes, verified against their hash."""

from __future__ import annotations

import hashlib
import sqlite3
import threading
from collections import OrderedDict

from ...contracts.errors import Refusal
from .failures import get_primary_code
from .readers import Readers

#: Blobs up to this size are verified on every read, in bytes. Larger ones are read by page and verified once, as long as
#: they are among the last verified ones.
CHECKED_ALWAYS = 1 << 20
REMEMBERED = 64
_PIECE = 1 << 20


class SqliteBlobs:
    """The BlobStore port."""

    def __init__(self, readers: Readers) -> None:
        self._readers = readers
        self._verified = _VerifiedBlobs()

    async def get(self, hash: str) -> bytes | None:
        if (digest := _decode_hash(hash)) is None:
            return None
        return await self._readers.run(lambda connection: _read_whole(connection, digest))

    async def get_range(self, hash: str, *, offset: int, length: int) -> bytes | None:
        if (digest := _decode_hash(hash)) is None:
            return None
        return await self._readers.run(
            lambda connection: _read_range(connection, digest, offset, length, self._verified)
        )


class _VerifiedBlobs:
    """The large blobs that the readers verified last. Thread-safe."""

    def __init__(self) -> None:
        self._digests: OrderedDict[bytes, None] = OrderedDict()
        self._lock = threading.Lock()

    def __contains__(self, digest: bytes) -> bool:
        with self._lock:
            return digest in self._digests

    def add(self, digest: bytes) -> None:
        with self._lock:
            self._digests[digest] = None
            if len(self._digests) > REMEMBERED:
                self._digests.popitem(last=False)


def build_blob_refusal(hash: str) -> Refusal:
    """Return the refusal of a damaged blob."""
    return Refusal(
        "blob_damaged",
        f"The content {hash} was changed outside Callboard: its bytes do not match its hash.",
        hint="`callboard check` lists all damage; `callboard restore FILE --replace` restores a backup.",
    )


def compute_digest(blob: sqlite3.Blob) -> bytes:
    """Return the SHA-256 of an open blob, and leave it at its end."""
    hasher = hashlib.sha256()
    while piece := blob.read(_PIECE):
        hasher.update(piece)
    return hasher.digest()


def _decode_hash(hash: str) -> bytes | None:
    try:
        return bytes.fromhex(hash)
    except ValueError:
        return None


def _read_whole(connection: sqlite3.Connection, digest: bytes) -> bytes | None:
    row = connection.execute("SELECT CAST(data AS BLOB) FROM blobs WHERE hash = ?", (digest,)).fetchone()
    if row is None:
        return None
    if hashlib.sha256(row[0]).digest() != digest:
        raise build_blob_refusal(digest.hex())
    return row[0]


def _read_range(
    connection: sqlite3.Connection, digest: bytes, offset: int, length: int, verified: _VerifiedBlobs
) -> bytes | None:
    row = connection.execute("SELECT number FROM blobs WHERE hash = ?", (digest,)).fetchone()
    if row is None:
        return None
    try:
        with connection.blobopen("blobs", "data", row[0], readonly=True) as data:
            if len(data) <= CHECKED_ALWAYS or digest not in verified:
                if compute_digest(data) != digest:
                    raise build_blob_refusal(digest.hex())
                if len(data) > CHECKED_ALWAYS:
                    verified.add(digest)
            data.seek(min(offset, len(data)))
            return data.read(length)
    except sqlite3.OperationalError as error:
        if get_primary_code(error) != sqlite3.SQLITE_ERROR:
            raise
        # The blob was dropped between the two statements.
        return None
