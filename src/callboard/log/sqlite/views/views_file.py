"""The file of derived data, `views.db`: its tables, its checksums, and connections to it."""

from __future__ import annotations

import logging
import sqlite3
import zlib
from collections.abc import Iterable
from pathlib import Path

from ..failures import is_out_of_descriptors
from ..schema import APPLICATION, configure, connect, connect_reader, create, has_programs, is_empty

log = logging.getLogger(__name__)
_CHECKSUM_BYTES = 4

VIEWS_SQL = """
CREATE TABLE views_of (store TEXT NOT NULL, erasures INTEGER NOT NULL);
CREATE TABLE panels (number INTEGER PRIMARY KEY, stream TEXT NOT NULL, panel TEXT NOT NULL, UNIQUE (stream, panel));
CREATE INDEX panels_by_panel ON panels (panel);
CREATE TABLE rows (
    number INTEGER PRIMARY KEY, panel INTEGER NOT NULL, key TEXT NOT NULL, place INTEGER NOT NULL,
    data BLOB NOT NULL, -- behind a checksum of it with its stream, panel, key and place
    UNIQUE (panel, key)
);
CREATE INDEX rows_by_place ON rows (panel, place, key);
CREATE TABLE views (stream TEXT PRIMARY KEY, watermark INTEGER NOT NULL, fingerprint TEXT NOT NULL, state BLOB NOT NULL);
CREATE TABLE snapshots (
    stream TEXT PRIMARY KEY, sequence INTEGER NOT NULL, link BLOB NOT NULL, fingerprint TEXT NOT NULL, state BLOB NOT NULL
);
CREATE TABLE conversations (
    stream TEXT NOT NULL, thread TEXT NOT NULL, sequence INTEGER NOT NULL, link BLOB NOT NULL, fingerprint TEXT NOT NULL,
    data BLOB NOT NULL, PRIMARY KEY (stream, thread)
);
"""
#: Views with other tables are replaced. Each `BLOB` in them has a checksum.
VIEWS_LAYOUT = zlib.crc32(VIEWS_SQL.encode()) >> 1


def protect(data: bytes, *row_key: str | int | bytes) -> bytes:
    """Return the data after a checksum of the data and its row key."""
    return _compute_checksum(data, row_key) + data


def protect_pieces(pieces: Iterable[bytes], *row_key: str | int | bytes) -> bytes:
    """Return the pieces as `protect` returns them joined, with one copy of them."""
    data = [b"", *pieces]
    checksum = zlib.crc32(repr(row_key).encode())
    for piece in data:
        checksum = zlib.crc32(piece, checksum)
    data[0] = checksum.to_bytes(_CHECKSUM_BYTES, "big")
    return b"".join(data)


def unprotect(stored: object, *row_key: str | int | bytes) -> bytes | None:
    """Return the data of protected bytes, or None if they or their row key changed. Damaged bytes are never decoded."""
    if not isinstance(stored, bytes) or len(stored) < _CHECKSUM_BYTES:
        return None
    data = stored[_CHECKSUM_BYTES:]
    return data if stored[:_CHECKSUM_BYTES] == _compute_checksum(data, row_key) else None


def open_views(path: Path, store: str, erasures: int) -> sqlite3.Connection:
    """Return the writer's connection to the views of a store. Unreadable or unsuitable views are replaced."""
    if path.exists() and (defect := _find_defect(path, store, erasures)) is not None:
        if defect:
            log.warning("%s cannot be read and is rebuilt from the log: %s", path, defect)
        remove_views(path)
    connection = connect(path)
    new = is_empty(connection)
    configure(connection, new=new, synchronous="NORMAL")
    if new:
        create(connection, VIEWS_SQL, VIEWS_LAYOUT, "INSERT INTO views_of VALUES (?, ?)", (store, erasures))
    return connection


def connect_views(path: Path, store: str, erasures: int) -> sqlite3.Connection:
    """Return a reader's connection, which has no rows if the views are missing or unsuitable."""
    if path.exists() and _find_defect(path, store, erasures) is None:
        return connect_reader(path)
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    create(connection, VIEWS_SQL, VIEWS_LAYOUT)
    return connection


def remove_views(path: Path) -> None:
    """Remove the file with its write-ahead log."""
    for name in (path, path.with_name(path.name + "-wal"), path.with_name(path.name + "-shm")):
        name.unlink(missing_ok=True)


def has_views_layout(connection: sqlite3.Connection) -> bool:
    """Return True if the file has the tables of this version."""
    marks = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")]
    return marks == [APPLICATION, VIEWS_LAYOUT]


def _find_defect(path: Path, store: str, erasures: int) -> str | None:
    """Return None for suitable views, why they are unreadable, or "" for another store, layout or erasure count."""
    connection: sqlite3.Connection | None = None
    try:
        connection = connect_reader(path)
        has_layout = has_views_layout(connection)
        owner = connection.execute("SELECT store, erasures FROM views_of").fetchone()
        if has_programs(connection):
            return "it contains triggers or views of another tool"
    except sqlite3.Error as error:
        if is_out_of_descriptors():
            # The file is sound.
            raise
        return str(error)
    finally:
        if connection is not None:
            connection.close()
    return None if has_layout and owner == (store, erasures) else ""


def _compute_checksum(data: bytes, row_key: tuple[str | int | bytes, ...]) -> bytes:
    return zlib.crc32(data, zlib.crc32(repr(row_key).encode())).to_bytes(_CHECKSUM_BYTES, "big")
