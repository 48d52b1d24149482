"""The tables of `callboard.db`, and connections to the files of a store.

Facts are in the order of arrival over all streams, so that pages fill; an index finds them by stream. A deleted stream has
the name NULL until it is purged. `seal` is the salt of a payload, or the digest of an erased one (`log.chain`).
"""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from .failures import build_unusable_refusal, to_refusal
from .migrations import STEPS, migrate
from .read_only_folder import connect_read_only, is_read_only

FACTS = "callboard.db"
APPLICATION = 0x43424C44
FACTS_SCHEMA = 1
#: Pages in the write-ahead log at which SQLite makes a checkpoint, and the bytes that a longer log is truncated to.
WAL_PAGES = 1000
WAL_BYTES = 8 * 1024 * 1024
#: Page cache of the writer and of each reader, in KiB. Small, because the system caches the file, too.
WRITER_CACHE = 4000
READER_CACHE = 1000
#: How long a connection waits for another program's lock, in milliseconds.
BUSY = 5000

FACTS_SQL = """
CREATE TABLE store (id TEXT NOT NULL, epoch INTEGER NOT NULL, erasures INTEGER NOT NULL);
CREATE TABLE streams (
    number INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE, head INTEGER NOT NULL, link BLOB NOT NULL, at INTEGER NOT NULL
);
CREATE TABLE facts (
    position INTEGER PRIMARY KEY, stream INTEGER NOT NULL, sequence INTEGER NOT NULL,
    header BLOB NOT NULL, link BLOB NOT NULL, seal BLOB NOT NULL, payload BLOB
);
CREATE UNIQUE INDEX facts_by_stream ON facts (stream, sequence);
CREATE TABLE answers (
    key TEXT PRIMARY KEY, body_hash TEXT NOT NULL, answer BLOB NOT NULL,
    stream INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX answers_by_stream ON answers (stream, last);
CREATE TABLE closed (stream INTEGER NOT NULL, id TEXT NOT NULL, PRIMARY KEY (stream, id)) WITHOUT ROWID;
CREATE TABLE blobs (number INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, data BLOB NOT NULL);
CREATE TABLE blob_uses (
    stream INTEGER NOT NULL, sequence INTEGER NOT NULL, blob INTEGER NOT NULL, PRIMARY KEY (stream, sequence, blob)
) WITHOUT ROWID;
CREATE INDEX blob_uses_by_blob ON blob_uses (blob);
CREATE TABLE partials (
    number INTEGER PRIMARY KEY, stream INTEGER NOT NULL, key TEXT NOT NULL, kind TEXT NOT NULL, scope BLOB NOT NULL,
    tool TEXT NOT NULL, length INTEGER NOT NULL, UNIQUE (stream, key)
);
CREATE TABLE pieces (place INTEGER PRIMARY KEY, text TEXT NOT NULL);
"""

_NEWER = "Update Callboard, which keeps the data; or set CALLBOARD_HOME to another folder to start with an empty store."
_OLDER = "Start `callboard up` once: it copies the store and migrates it to the present layout."
_PROGRAMS = (
    "Another tool created them. Remove them with that tool, then run `callboard check`; "
    "or restore a backup with `callboard restore FILE --replace`."
)


def connect(path: Path) -> sqlite3.Connection:
    """Connect a writer in autocommit mode. A new file has mode 0600."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    return sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=BUSY / 1000)


def configure(connection: sqlite3.Connection, *, new: bool, synchronous: str = "FULL") -> None:
    """Configure durability and cache of a writer, and incremental vacuum of a new file."""
    settings = [
        "journal_mode = WAL",
        f"synchronous = {synchronous}",
        "fullfsync = ON",
        "secure_delete = ON",
        f"wal_autocheckpoint = {WAL_PAGES}",
        f"journal_size_limit = {WAL_BYTES}",
        f"cache_size = -{WRITER_CACHE}",
    ]
    for setting in ["auto_vacuum = INCREMENTAL", *settings] if new else settings:
        connection.execute(f"PRAGMA {setting}").fetchall()


def connect_reader(path: Path) -> sqlite3.Connection:
    """Connect a reader, also in a read-only folder. Different threads may use it in turn."""
    if is_read_only(path):
        connection = connect_read_only(path, BUSY / 1000)
    else:
        uri = f"{path.absolute().as_uri()}?mode=rw"
        connection = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False, timeout=BUSY / 1000)
    connection.execute("PRAGMA query_only = ON")
    connection.execute(f"PRAGMA cache_size = -{READER_CACHE}")
    return connection


def is_empty(connection: sqlite3.Connection) -> bool:
    """Return True if the file has no table yet."""
    return connection.execute("SELECT count(*) FROM sqlite_schema").fetchone() == (0,)


def create(
    connection: sqlite3.Connection, tables: str, schema: int, first: str = "", values: tuple[object, ...] = ()
) -> None:
    """Create the tables of an empty file and its first row, all or none."""
    marks = f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {schema};"
    connection.executescript(f"BEGIN IMMEDIATE; {tables} {marks}")
    if first:
        connection.execute(first, values)
    connection.execute("COMMIT")


def open_facts(folder: Path, new_id: str) -> sqlite3.Connection:
    """Return the writer's connection to `callboard.db`. Creates a missing file. Raises Refusal `store_unusable`."""
    path = folder / FACTS
    connection: sqlite3.Connection | None = None
    try:
        connection = connect(path)
        new = is_empty(connection)
        if not new:
            check_facts(connection, path, writing=True)
        configure(connection, new=new)
        if new:
            create(connection, FACTS_SQL, FACTS_SCHEMA, "INSERT INTO store VALUES (?, 0, 0)", (new_id,))
        else:
            migrate(connection, path, to=FACTS_SCHEMA, steps=STEPS)
    except BaseException as error:
        # Before `close`, which may release the file descriptors that are the reason.
        refusal = to_refusal(error, str(path)) if isinstance(error, sqlite3.Error) else None
        if connection is not None:
            connection.close()
        if refusal is not None:
            raise refusal from error
        raise
    return connection


def check_facts(connection: sqlite3.Connection, path: Path, *, writing: bool = False) -> None:
    """Raise Refusal `store_unusable` if this version cannot read the log, or cannot migrate it as its writer."""
    if connection.execute("PRAGMA application_id").fetchone() != (APPLICATION,):
        raise build_unusable_refusal(str(path), "it is not a Callboard store")
    (schema,) = connection.execute("PRAGMA user_version").fetchone()
    if schema > FACTS_SCHEMA:
        raise build_unusable_refusal(str(path), f"a newer Callboard created it (schema {schema})", hint=_NEWER)
    if schema < FACTS_SCHEMA and not writing:
        raise build_unusable_refusal(str(path), f"it has an older layout (schema {schema})", hint=_OLDER)
    if connection.execute("SELECT count(*) FROM store").fetchone() != (1,):
        raise build_unusable_refusal(str(path), "its id and its epoch are missing")
    if has_programs(connection):
        raise build_unusable_refusal(
            str(path), "it contains triggers or views, which can change or hide data", hint=_PROGRAMS
        )


def has_programs(connection: sqlite3.Connection) -> bool:
    """Return True if another tool added triggers or views to the file. Callboard creates none."""
    (count,) = connection.execute("SELECT count(*) FROM sqlite_schema WHERE type IN ('trigger', 'view')").fetchone()
    return count > 0
