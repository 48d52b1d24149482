"""The two files of a store and how a connection to them is made.

`callboard.db` is the truth. Facts lie in the order of their arrival, whatever their stream, so that pages fill; the index
finds them by stream. A stream whose name is NULL is deleted and being purged. `seal` is the salt of a payload, or the
payload's digest once it is erased (`log.chain`).

`views.db` is made from the truth and thrown away when it does not fit.
"""

from __future__ import annotations

import os
import sqlite3
import zlib
from pathlib import Path

from .failures import to_refusal, unusable
from .frozen import connect_frozen, is_frozen
from .migrations import STEPS, migrate

FACTS = "callboard.db"
APPLICATION = 0x43424C44
FACTS_SCHEMA = 1
#: The write-ahead log is copied back once it has so many pages, and cut back to so many bytes when it was longer.
WAL_PAGES = 1000
WAL_BYTES = 8 * 1024 * 1024
#: How much of the file a connection keeps in memory, in KiB: the writing one, and each that reads. The system caches the file,
#: too, so that a page that is asked for again costs a copy.
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
"""
#: Views with other tables are replaced. All that is in a `BLOB` of theirs has a checksum (`derived`).
VIEWS_LAYOUT = zlib.crc32(VIEWS_SQL.encode()) >> 1


_NEWER = (
    "Update Callboard, which leaves everything as it is; "
    "or set CALLBOARD_HOME to another folder to begin with an empty store."
)

_OLDER = "Start `callboard up` once: it keeps a copy of the store and brings it to the present layout."


_PROGRAMS = (
    "Callboard makes none: another tool did. Remove them with that tool, then run `callboard check`; "
    "or restore a backup with `callboard restore FILE --replace`."
)


def connect(path: Path) -> sqlite3.Connection:
    """A connection that may write, in autocommit: transactions are begun by hand. The file is made with mode 0600."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    return sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=BUSY / 1000)


def configure(connection: sqlite3.Connection, *, new: bool, synchronous: str = "FULL") -> None:
    """Settles how the connection writes; of a new file, that it can give space back."""
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
    """A connection that only reads, also where no file can be written. It may be used by one thread after another."""
    if is_frozen(path):
        connection = connect_frozen(path, BUSY / 1000)
    else:
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=rw",
            uri=True,
            isolation_level=None,
            check_same_thread=False,
            timeout=BUSY / 1000,
        )
    connection.execute("PRAGMA query_only = ON")
    connection.execute(f"PRAGMA cache_size = -{READER_CACHE}")
    return connection


def is_empty(connection: sqlite3.Connection) -> bool:
    """True where the file has no table yet."""
    return connection.execute("SELECT count(*) FROM sqlite_schema").fetchone() == (0,)


def create(
    connection: sqlite3.Connection, tables: str, schema: int, first: str = "", values: tuple[object, ...] = ()
) -> None:
    """Makes the tables of an empty file and its first row, all or none."""
    marks = f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {schema};"
    connection.executescript(f"BEGIN IMMEDIATE; {tables} {marks}")
    if first:
        connection.execute(first, values)
    connection.execute("COMMIT")


def open_facts(folder: Path, new_id: str) -> sqlite3.Connection:
    """The writer's connection to `callboard.db`, made where there is none. Raises Refusal `store_unusable`."""
    path = folder / FACTS
    connection: sqlite3.Connection | None = None
    try:
        connection = connect(path)
        new = is_empty(connection)
        if not new:
            check_facts(connection, path, writing=True)
        configure(connection, new=new)
        if not new:
            migrate(connection, path, to=FACTS_SCHEMA, steps=STEPS)
        if new:
            create(connection, FACTS_SQL, FACTS_SCHEMA, "INSERT INTO store VALUES (?, 0, 0)", (new_id,))
    except sqlite3.Error as error:
        # Before the connection lets go of what the reason may be.
        refusal = to_refusal(error, str(path))
        if connection is not None:
            connection.close()
        raise refusal from error
    except BaseException:
        if connection is not None:
            connection.close()
        raise
    return connection


def check_facts(connection: sqlite3.Connection, path: Path, *, writing: bool = False) -> None:
    """Raises Refusal `store_unusable` where the file is not a log that this version can read."""
    if connection.execute("PRAGMA application_id").fetchone() != (APPLICATION,):
        raise unusable(str(path), "it is not a Callboard store")
    (schema,) = connection.execute("PRAGMA user_version").fetchone()
    if schema > FACTS_SCHEMA:
        raise unusable(str(path), f"it was made by a newer Callboard (schema {schema})", hint=_NEWER)
    if schema < FACTS_SCHEMA and not writing:
        raise unusable(str(path), f"it has an older layout (schema {schema})", hint=_OLDER)
    if connection.execute("SELECT count(*) FROM store").fetchone() != (1,):
        raise unusable(str(path), "its id and its epoch are missing")
    if has_programs(connection):
        raise unusable(
            str(path), "it contains triggers or views, which can change or hide what is written", hint=_PROGRAMS
        )


def has_programs(connection: sqlite3.Connection) -> bool:
    """Return True where another tool put triggers or views into the file: Callboard makes none."""
    (count,) = connection.execute("SELECT count(*) FROM sqlite_schema WHERE type IN ('trigger', 'view')").fetchone()
    return count > 0
