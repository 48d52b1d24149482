"""The store in SQLite: one folder, one writing process, any number of readers.

store     opens the folder and puts the parts together
lock      who may write: the file lock and the epoch
schema    the two files and how a connection to them is made
writer    the thread that writes, with group commit and housekeeping
readers   the threads that read
ledger    where streams end, as the writer knows it within its transaction
facts     the FactLog port; appends, removal are its transactions
blobs, partials, rows     the other ports
links     facts read with every link checked
frozen    reading where no file can be written
unwritten rows that a full disk refused
upkeep    the check of a store, and copies of it
failures  what SQLite's errors mean for a caller
"""

from __future__ import annotations

from .store import SqliteStore, open_store

__all__ = ["SqliteStore", "open_store"]
