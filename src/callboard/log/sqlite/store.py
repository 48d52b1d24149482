"""The store in a folder: `callboard.db`, `views.db` and the writer's lock."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import uuid_utils

from ...contracts.ids import render
from ...contracts.ports.conversation_store import ConversationStore
from ...contracts.ports.store import BlobStore, FactLog, PartialStore, RowStore
from .blobs import SqliteBlobs
from .facts import SqliteFacts
from .failures import VIEWS, build_unusable_refusal, convert_os_error, to_refusal
from .lock import WriterLock
from .migrations import sync
from .partials import SqlitePartials
from .readers import Readers
from .removal import PurgingLedger
from .schema import FACTS, check_facts, connect_reader, is_empty, open_facts
from .views.rows import SqliteRows
from .writer import Writer


class SqliteStore:
    """Implements the port `Store`. `epoch` is the one at opening. Call `open_store` to create one.

    Args:
        writing: The writer's connection; None in a process that only reads.
    """

    def __init__(self, folder: Path, writing: sqlite3.Connection | None, lock: WriterLock | None) -> None:
        path = folder / FACTS
        self._lock = lock
        self._readers = Readers(lambda: connect_reader(path), str(path))
        self.id, self.epoch, erasures = self._readers.read_first("SELECT id, epoch, erasures FROM store")
        ledger = PurgingLedger(self.epoch, lambda connection: check_facts(connection, path))
        self._writer = None if writing is None else Writer(writing, str(path), ledger)
        self._rows = SqliteRows(folder, self.id, erasures, writing=writing is not None)
        self._facts = SqliteFacts(self._readers, self._writer, ledger, self._rows)
        self.facts: FactLog = self._facts
        self.rows: RowStore = self._rows
        self.conversations: ConversationStore = self._rows.conversations
        self.blobs: BlobStore = SqliteBlobs(self._readers)
        self.partials: PartialStore = SqlitePartials(self._readers, self._writer, ledger)

    async def close(self) -> None:
        """End the subscriptions, finish queued writes and release the lock. Can be repeated."""
        self._facts.subscriptions.close()
        await self._readers.close()
        await self._rows.close()
        if self._writer is not None:
            await self._writer.close()
        if self._lock is not None:
            self._lock.release()


def open_store(path: Path, *, read_only: bool = False) -> SqliteStore:
    """Open the store in a folder. Blocks for some milliseconds.

    A writer creates a missing folder with mode 0700 and files with mode 0600, and increments the epoch.

    Raises:
        Refusal: `store_locked` if another process writes; `store_unusable` if the store is damaged, newer than this version,
            inaccessible, without its log, or, for a reader, missing.
    """
    folder = path.absolute()
    if read_only:
        return _open_reader(folder)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)
        lock = WriterLock(folder)
    except OSError as error:
        raise convert_os_error(error, str(folder)) from error
    writing: sqlite3.Connection | None = None
    try:
        if (folder / VIEWS).exists() and not (folder / FACTS).exists():
            # A new log would hide the loss of the former one.
            raise build_unusable_refusal(str(folder / FACTS), "it is missing, but its views exist")
        writing = open_facts(folder, render("runtime", uuid_utils.uuid7().int))
        writing.execute("UPDATE store SET epoch = epoch + 1")
        sync(folder)
        return SqliteStore(folder, writing, lock)
    except BaseException as error:
        # Before `close`, which may release the file descriptors that are the reason.
        refusal = to_refusal(error, str(folder / FACTS)) if isinstance(error, sqlite3.Error) else None
        if writing is not None:
            writing.close()
        lock.release()
        if refusal is not None:
            raise refusal from error
        if isinstance(error, OSError):
            raise convert_os_error(error, str(folder)) from error
        raise


def _open_reader(folder: Path) -> SqliteStore:
    path = folder / FACTS
    if not path.exists():
        raise build_unusable_refusal(str(folder), "there is no store in this folder")
    try:
        connection = connect_reader(path)
        try:
            if is_empty(connection):
                raise build_unusable_refusal(str(folder), "another process is creating the store in this folder")
            check_facts(connection, path)
        finally:
            connection.close()
        return SqliteStore(folder, None, None)
    except sqlite3.Error as error:
        raise to_refusal(error, str(path)) from error
