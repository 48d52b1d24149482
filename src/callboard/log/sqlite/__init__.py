"""The store in SQLite: a folder with one writer process and any number of readers.

Modules:
    store: The store and how it is opened.
    lock: The writer's lock.
    schema, migrations: Tables and connections of `callboard.db`.
    views_file: Tables, checksums and connections of `views.db`.
    writer, readers: The threads that write and read a file.
    ledger: Ends of streams within a transaction.
    facts, blobs, partials, rows: The ports. `appends` and `removal` are transactions of `facts`.
    links: Reads of facts with every link verified.
    frozen: Reads in a read-only folder.
    unwritten: Rows that a full disk refused.
    failures: Refusals for errors of SQLite.
    upkeep: Checks and copies of a store.
"""

from __future__ import annotations

from .store import SqliteStore, open_store

__all__ = ["SqliteStore", "open_store"]
