"""What SQLite's errors mean for a caller."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from ...contracts.errors import Refusal

#: The file that holds nothing but what can be made anew.
VIEWS = "views.db"
#: The primary codes after which a connection's view of the disk cannot be trusted any more.
_FATAL = (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def primary(error: sqlite3.Error) -> int:
    """SQLite's primary result code, or SQLITE_ERROR where the module itself raised."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF


def is_fatal(error: BaseException) -> bool:
    """True where nothing more may be written through the connection: after such an error the disk's state is unknown."""
    return isinstance(error, sqlite3.Error) and primary(error) in _FATAL


def refusal_of(error: sqlite3.Error, where: str) -> Refusal:
    """The refusal that says what to do. `where` is the path of the file."""
    match primary(error):
        case sqlite3.SQLITE_FULL:
            return Refusal(
                "store_full",
                f"There is no room to write to {where}; nothing of this batch was stored.",
                hint="Free some disk space and repeat the command.",
            )
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return Refusal(
                "store_locked",
                f"Another program holds {where} locked.",
                hint="Close whatever else has the file open and repeat the command.",
            )
        case sqlite3.SQLITE_TOOBIG:
            return Refusal("too_large", "The content is larger than the store can keep in one piece (1 GB).")
        case sqlite3.SQLITE_CONSTRAINT:
            return Refusal("conflict", f"The batch does not fit what is stored: {error}.")
        case _:
            return unusable(where, str(error))


def unusable(where: str, why: str, *, hint: str = "") -> Refusal:
    """The refusal of a store that cannot be worked with; `hint` says what to do where it is not the usual."""
    hint = hint or (
        "Stop Callboard, keep a copy of the folder, and restore callboard.db from a backup; "
        "or move the folder away to begin with an empty store."
    )
    if Path(where).name == VIEWS:
        hint = "Start Callboard again: this file is made anew from the log."
    return Refusal("store_unusable", f"The store {where} cannot be used: {why}.", hint=hint)


def read_only() -> Refusal:
    """The refusal of a store that was opened to be read."""
    return Refusal(
        "read_only",
        "This process has the store open for reading only.",
        hint="Send the command to the process that writes to the store.",
    )
