"""A consistent copy of the log, made by SQLite beside the process that writes."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from contextlib import closing
from pathlib import Path

from .. import schema
from ..failures import to_refusal
from ..schema import FACTS, check_facts, connect_reader, is_empty


def copy_log(folder: Path, into: Path) -> None:
    """Copy the log of a store into a folder, as of one moment.

    SQLite copies in one reading transaction, so that what is committed meanwhile is not in the copy, in part or whole.

    Args:
        into: A folder that has no log.
    Raises:
        Refusal: `store_unusable`, `store_full`, `store_locked`.
    """
    path, target = folder / FACTS, into / FACTS
    try:
        with closing(connect_reader(path)) as source:
            check_facts(source, path, writing=True)
            os.close(os.open(target, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
            with closing(sqlite3.connect(target, isolation_level=None)) as copy:
                source.backup(copy, pages=-1)
                # One file, without a write-ahead log beside it. Where it is opened next it gets one again.
                copy.execute("PRAGMA journal_mode = DELETE").fetchall()
    except sqlite3.Error as error:
        # The log is only read: what has no room is the copy.
        refusal = to_refusal(error, str(target))
        raise (refusal if refusal.code == "store_full" else to_refusal(error, str(path))) from error
    handle = os.open(target, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def migrate_log(folder: Path) -> None:
    """Bring a copied log of an older layout to the present one. Any other log stays as it is.

    Raises:
        Refusal: `store_unusable` where a step is missing, `store_full`.
    """
    is_older = False
    # What is no database is named by the check that follows.
    with contextlib.suppress(sqlite3.DatabaseError), closing(connect_reader(folder / FACTS)) as source:
        (layout,) = source.execute("PRAGMA user_version").fetchone()
        is_older = layout < schema.FACTS_SCHEMA and not is_empty(source)
    if is_older:
        schema.open_facts(folder, "").close()


def raise_epoch(folder: Path, least: int) -> None:
    """Let the next writer of a copied log have an epoch above `least`, so that no epoch names two histories."""
    with closing(sqlite3.connect(folder / FACTS, isolation_level=None)) as connection:
        connection.execute("UPDATE store SET epoch = max(epoch, ?)", (least,))


def read_epoch(folder: Path) -> int:
    """Return the epoch of the last writer of a store; 0 where it cannot be read."""
    try:
        with closing(connect_reader(folder / FACTS)) as connection:
            return int(connection.execute("SELECT epoch FROM store").fetchone()[0])
    except (sqlite3.Error, OSError):
        return 0
