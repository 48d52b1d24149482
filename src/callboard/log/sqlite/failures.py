"""Refusals for errors of SQLite and of the file system."""

from __future__ import annotations

import errno
import os
import sqlite3
from pathlib import Path

from ...contracts.disk import FAILED_HINT, is_full
from ...contracts.errors import Refusal

#: The file of derived data.
VIEWS = "views.db"
#: Primary codes after which the state of the disk is unknown.
_FATAL = (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
#: `SQLITE_IOERR_SHMSIZE`: the shared memory file cannot grow.
_SHARED_MEMORY_SIZE = sqlite3.SQLITE_IOERR | 19 << 8
#: Bytes of free space below which SQLite cannot create its auxiliary files.
_MIN_FREE_BYTES = 256 * 1024
_DISK = f"{FAILED_HINT} `callboard check` shows whether the store is sound; if it is, back it up to another disk."
#: Files that SQLite opens for a connection: the database, the write-ahead log, its shared memory, and a folder.
_FILES = 4
_DESCRIPTORS = "The store is sound. Raise the limit, for example with `ulimit -n 1024`, and start Callboard again."
_PERMISSION = "Make the folder and its files readable and writable for you, or set CALLBOARD_HOME to another folder."


def get_primary_code(error: sqlite3.Error) -> int:
    """Return SQLite's primary result code, or SQLITE_ERROR for an error of the Python module."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF


def is_fatal(error: BaseException) -> bool:
    """Return True if the state of the disk is unknown, so that the connection must not write again."""
    return isinstance(error, sqlite3.Error) and get_primary_code(error) in _FATAL


def to_refusal(error: sqlite3.Error, where: str) -> Refusal:
    """Return the refusal for an error on the file `where`.

    | SQLite | reason | advice |
    |---|---|---|
    | FULL; SHMSIZE; IOERR or CANTOPEN without free space | full disk | free space |
    | IOERR | disk failure | inspect the disk, then check the store |
    | CANTOPEN at the limit of open files | limit of open files | raise it |
    | CORRUPT, NOTADB | damaged file | check it, restore a backup |
    | CANTOPEN, PERM, READONLY, AUTH | missing permission | permissions |
    | BUSY, LOCKED | another program | close it |
    """
    match get_primary_code(error):
        case sqlite3.SQLITE_FULL:
            return build_full_refusal(where)
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return Refusal(
                "store_locked",
                f"Another program has locked {where}.",
                hint="Close any other program that uses the file, and repeat the command.",
            )
        case sqlite3.SQLITE_TOOBIG:
            return Refusal("too_large", "The content exceeds the store's limit of 1 GB.", hint="Split the content.")
        case sqlite3.SQLITE_CONSTRAINT:
            return Refusal(
                "conflict",
                f"The batch conflicts with stored data: {error}.",
                hint="Read the newer facts and decide again.",
            )
        case sqlite3.SQLITE_IOERR | sqlite3.SQLITE_CANTOPEN if _is_full(error, where):
            return build_full_refusal(where)
        case sqlite3.SQLITE_IOERR | sqlite3.SQLITE_CANTOPEN if is_out_of_descriptors():
            return build_unusable_refusal(where, os.strerror(errno.EMFILE).lower(), hint=_DESCRIPTORS)
        case sqlite3.SQLITE_IOERR:
            return build_unusable_refusal(where, f"the disk failed ({error})", hint=_DISK)
        case sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM | sqlite3.SQLITE_READONLY | sqlite3.SQLITE_AUTH:
            return build_unusable_refusal(where, str(error), hint=_PERMISSION)
        case _:
            return build_unusable_refusal(where, str(error))


def convert_os_error(error: OSError, where: str) -> Refusal:
    """Return the refusal for an error of the file system."""
    if is_full(error):
        return build_full_refusal(where)
    if error.errno in (errno.EMFILE, errno.ENFILE):
        return build_unusable_refusal(where, str(error.strerror).lower(), hint=_DESCRIPTORS)
    hint = {errno.EIO: _DISK, errno.EACCES: _PERMISSION, errno.EPERM: _PERMISSION, errno.EROFS: _PERMISSION}
    return build_unusable_refusal(where, error.strerror or str(error), hint=hint.get(error.errno or 0, ""))


def build_full_refusal(where: str) -> Refusal:
    """Return the refusal of a write to a full disk."""
    return Refusal(
        "store_full",
        f"The disk is full: nothing of this was written to {where}.",
        hint="Free some disk space and repeat the command. Earlier data is intact.",
    )


def is_out_of_descriptors() -> bool:
    """Return True if this process can open no more files, which SQLite reports like a missing permission.

    SQLite closes some files before it reports the error, so this opens several.
    """
    opened: list[int] = []
    try:
        for _ in range(_FILES):
            opened += [os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)]
    except OSError as error:
        return error.errno in (errno.EMFILE, errno.ENFILE)
    finally:
        for file in opened:
            os.close(file)
    return False


def _is_full(error: sqlite3.Error, where: str) -> bool:
    """Return True if a full disk causes the error. SQLite needs free space to open a file, too."""
    if getattr(error, "sqlite_errorcode", 0) == _SHARED_MEMORY_SIZE:
        return True
    try:
        disk = os.statvfs(Path(where).parent)
    except OSError:
        return False
    return disk.f_bavail * disk.f_frsize < _MIN_FREE_BYTES or (disk.f_files > 0 and disk.f_favail == 0)


def build_unusable_refusal(where: str, why: str, *, hint: str = "") -> Refusal:
    """Return the refusal of an unusable store. Without a hint, it advises to restore a backup."""
    hint = hint or (
        "Stop Callboard and keep a copy of the folder. `callboard check` lists the damage; restore a backup with "
        "`callboard restore FILE --replace`, or move the folder away to start with an empty store."
    )
    if Path(where).name == VIEWS:
        hint = "Start Callboard again: this file is rebuilt from the log."
    return Refusal("store_unusable", f"The store {where} cannot be used: {why}.", hint=hint)


def build_read_only_refusal() -> Refusal:
    """Return the refusal of a write in a process that only reads."""
    return Refusal(
        "read_only",
        "This process opened the store read-only.",
        hint="Send the command to the process that writes to the store.",
    )
