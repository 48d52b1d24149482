"""A consistent copy of the log, made while another process writes."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from contextlib import closing
from pathlib import Path

from .. import schema
from ..failures import to_refusal
from ..migrations import sync
from ..schema import FACTS, check_facts, connect_reader, is_empty


def copy_log(folder: Path, into: Path) -> None:
    """Copy the log of a store into a folder without a log, in one read transaction.

    Raises Refusal `store_unusable`, `store_full` or `store_locked`.
    """
    path, target = folder / FACTS, into / FACTS
    try:
        with closing(connect_reader(path)) as source:
            check_facts(source, path, writing=True)
            os.close(os.open(target, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
            with closing(sqlite3.connect(target, isolation_level=None)) as copy:
                source.backup(copy, pages=-1)
                # The copy is one file. The next connection gives it a write-ahead log again.
                copy.execute("PRAGMA journal_mode = DELETE").fetchall()
    except sqlite3.Error as error:
        # Only the copy can run out of space: the log is only read.
        refusal = to_refusal(error, str(target))
        raise (refusal if refusal.code == "store_full" else to_refusal(error, str(path))) from error
    sync(target)


def migrate_log(folder: Path) -> None:
    """Migrate a copied log of an older layout. Raises Refusal `store_unusable` if a step is missing, or `store_full`."""
    is_older = False
    # A check reports an invalid file later.
    with contextlib.suppress(sqlite3.DatabaseError), closing(connect_reader(folder / FACTS)) as source:
        (layout,) = source.execute("PRAGMA user_version").fetchone()
        is_older = layout < schema.FACTS_SCHEMA and not is_empty(source)
    if is_older:
        schema.open_facts(folder, "").close()


def raise_epoch(folder: Path, min_epoch: int) -> None:
    """Raise the epoch of a copied log to at least `min_epoch`, so that no epoch has two histories."""
    with closing(sqlite3.connect(folder / FACTS, isolation_level=None)) as connection:
        connection.execute("UPDATE store SET epoch = max(epoch, ?)", (min_epoch,))


def read_epoch(folder: Path) -> int:
    """Return the epoch of the last writer of a store; 0 if it is unreadable."""
    try:
        with closing(connect_reader(folder / FACTS)) as connection:
            return int(connection.execute("SELECT epoch FROM store").fetchone()[0])
    except (sqlite3.Error, OSError):
        return 0
