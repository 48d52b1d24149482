"""A store is a folder: `callboard.db`, `views.db`, and the lock of the one process that writes."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import uuid_utils

from ...contracts.ids import render
from ...contracts.ports.store import BlobStore, FactLog, PartialStore, RowStore
from .blobs import SqliteBlobs
from .facts import SqliteFacts
from .failures import VIEWS, os_error_to_refusal, to_refusal, unusable
from .lock import WriterLock
from .partials import SqlitePartials
from .readers import Readers
from .removal import PurgingLedger
from .rows import SqliteRows
from .schema import FACTS, check_facts, connect_reader, is_empty, open_facts
from .writer import Writer


class SqliteStore:
    """The Store port. `epoch` is the writer's own, or for a reader the one that held when it opened the store."""

    def __init__(self, folder: Path, writing: sqlite3.Connection | None, lock: WriterLock | None) -> None:
        """Built by `open_store`; `writing` is the writer's connection, None where the store is only read."""
        path = folder / FACTS
        self._lock = lock
        self._readers = Readers(lambda: connect_reader(path), str(path))
        self.id, self.epoch, erasures = self._readers.read_first("SELECT id, epoch, erasures FROM store")
        keeper = PurgingLedger(self.epoch, lambda connection: check_facts(connection, path))
        self._writer = None if writing is None else Writer(writing, str(path), keeper)
        self._rows = SqliteRows(folder, self.id, erasures, writing=writing is not None)
        self._facts = SqliteFacts(self._readers, self._writer, keeper, self._rows)
        self.facts: FactLog = self._facts
        self.rows: RowStore = self._rows
        self.blobs: BlobStore = SqliteBlobs(self._readers)
        self.partials: PartialStore = SqlitePartials(self._readers, self._writer, keeper)

    async def close(self) -> None:
        """Ends the subscriptions, does what was accepted, and lets the lock go. Harmless when repeated."""
        self._facts.following.close()
        await self._readers.close()
        await self._rows.close()
        if self._writer is not None:
            await self._writer.close()
        if self._lock is not None:
            self._lock.release()


def open_store(path: Path, *, read_only: bool = False) -> SqliteStore:
    """Opens the store in a folder; as its writer it makes both where there are none, and counts the epoch on.

    The folder has mode 0700 and its files 0600. Blocks for some milliseconds. Raises Refusal `store_locked` where another
    process writes, `store_unusable` where the store is damaged, newer than this version, out of reach or, for a reader, not
    there. A store that lost its log is damaged.
    """
    folder = path.absolute()
    if read_only:
        return _open_reader(folder)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)
        lock = WriterLock(folder)
    except OSError as error:
        raise os_error_to_refusal(error, str(folder)) from error
    writing: sqlite3.Connection | None = None
    try:
        if (folder / VIEWS).exists() and not (folder / FACTS).exists():
            # A new log in its place would hide that the former is gone, and no one would restore a backup.
            raise unusable(str(folder / FACTS), "it is missing, and views made from it are there")
        writing = open_facts(folder, render("runtime", uuid_utils.uuid7().int))
        writing.execute("UPDATE store SET epoch = epoch + 1")
        _sync(folder)
        return SqliteStore(folder, writing, lock)
    except BaseException as error:
        # Before the connections let go of what the reason may be.
        refusal = to_refusal(error, str(folder / FACTS)) if isinstance(error, sqlite3.Error) else None
        if writing is not None:
            writing.close()
        lock.release()
        if refusal is not None:
            raise refusal from error
        if isinstance(error, OSError):
            raise os_error_to_refusal(error, str(folder)) from error
        raise


def _open_reader(folder: Path) -> SqliteStore:
    path = folder / FACTS
    if not path.exists():
        raise unusable(str(folder), "there is no store in this folder")
    try:
        connection = connect_reader(path)
        try:
            if is_empty(connection):
                raise unusable(str(folder), "the store in this folder is only being made")
            check_facts(connection, path)
        finally:
            connection.close()
        return SqliteStore(folder, None, None)
    except sqlite3.Error as error:
        raise to_refusal(error, str(path)) from error


def _sync(folder: Path) -> None:
    """Makes the names of the files durable, not only what is in them."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
