"""What SQLite's errors mean for a caller."""

from __future__ import annotations

import errno
import os
import sqlite3
from pathlib import Path

from ...contracts.disk import FAILED_HINT, is_full
from ...contracts.errors import Refusal

#: The file that holds nothing but what can be made anew.
VIEWS = "views.db"
#: The primary codes after which a connection's view of the disk cannot be trusted any more.
_FATAL = (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
#: `SQLITE_IOERR_SHMSIZE`: the file of shared memory cannot grow.
_SHARED_MEMORY_SIZE = sqlite3.SQLITE_IOERR | 19 << 8
#: With less room than this, in bytes, SQLite can open no file that it must make another beside.
_LEAST = 256 * 1024
_DISK = f"{FAILED_HINT} `callboard check` shows whether the store is sound; if it is, back it up to another disk."
#: Files that SQLite opens for a connection: the database, the write-ahead log, its shared memory, and a folder.
_FILES = 4
_DESCRIPTORS = (
    "Nothing is wrong with the store. Raise the limit, for example with `ulimit -n 1024`, and start Callboard again."
)
_PERMISSION = (
    "Give yourself the right to read and write the folder and the files in it, or set CALLBOARD_HOME to another."
)


def primary_code(error: sqlite3.Error) -> int:
    """SQLite's primary result code, or SQLITE_ERROR where the module itself raised."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF


def is_fatal(error: BaseException) -> bool:
    """True where nothing more may be written through the connection: after such an error the disk's state is unknown."""
    return isinstance(error, sqlite3.Error) and primary_code(error) in _FATAL


def to_refusal(error: sqlite3.Error, where: str) -> Refusal:
    """The refusal that says what to do. `where` is the path of the file.

    | SQLite says | the reason | what is advised |
    |---|---|---|
    | FULL; SHMSIZE; IOERR or CANTOPEN where no room is left | a full disk | free space |
    | IOERR | the disk failed | look at the disk, then check the store |
    | CANTOPEN where this process may open no more files | the limit of open files | raise it |
    | CORRUPT, NOTADB | the file was damaged | check it, restore a backup |
    | CANTOPEN, PERM, READONLY, AUTH | it may not be opened | permissions |
    | BUSY, LOCKED | another program | close it |
    """
    code = primary_code(error)
    match code:
        case sqlite3.SQLITE_FULL:
            return full(where)
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
        case sqlite3.SQLITE_IOERR | sqlite3.SQLITE_CANTOPEN if _is_full(error, where):
            return full(where)
        case sqlite3.SQLITE_IOERR | sqlite3.SQLITE_CANTOPEN if is_out_of_descriptors():
            return unusable(where, os.strerror(errno.EMFILE).lower(), hint=_DESCRIPTORS)
        case sqlite3.SQLITE_IOERR:
            return unusable(where, f"the disk failed ({error})", hint=_DISK)
        case sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM | sqlite3.SQLITE_READONLY | sqlite3.SQLITE_AUTH:
            return unusable(where, str(error), hint=_PERMISSION)
        case _:
            return unusable(where, str(error))


def os_error_to_refusal(error: OSError, where: str) -> Refusal:
    """The refusal of a file or folder that the system does not give."""
    if is_full(error):
        return full(where)
    if error.errno in (errno.EMFILE, errno.ENFILE):
        return unusable(where, str(error.strerror).lower(), hint=_DESCRIPTORS)
    hint = {errno.EIO: _DISK, errno.EACCES: _PERMISSION, errno.EPERM: _PERMISSION, errno.EROFS: _PERMISSION}
    return unusable(where, error.strerror or str(error), hint=hint.get(error.errno or 0, ""))


def full(where: str) -> Refusal:
    """The refusal of what finds no room. What is stored is sound."""
    return Refusal(
        "store_full",
        f"There is no room to write to {where}; nothing of this was stored.",
        hint="Free some disk space and repeat it. What was stored before is kept.",
    )


def is_out_of_descriptors() -> bool:
    """Return True where this process can open no more files: SQLite reports it like a file that may not be opened.

    SQLite closes what it opened on the way before it reports that, so that a few may be free again.
    """
    opened: list[int] = []
    try:
        for _ in range(_FILES):
            opened += [os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)]
    except OSError as error:
        return error.errno in (errno.EMFILE, errno.ENFILE)
    finally:
        for each in opened:
            os.close(each)
    return False


def _is_full(error: sqlite3.Error, where: str) -> bool:
    """True where an error of another name comes of a full disk: SQLite needs room to open a file, too."""
    if getattr(error, "sqlite_errorcode", 0) == _SHARED_MEMORY_SIZE:
        return True
    try:
        disk = os.statvfs(Path(where).parent)
    except OSError:
        return False
    return disk.f_bavail * disk.f_frsize < _LEAST or (disk.f_files > 0 and disk.f_favail == 0)


def unusable(where: str, why: str, *, hint: str = "") -> Refusal:
    """The refusal of a store that cannot be worked with; `hint` says what to do where it is not the usual."""
    hint = hint or (
        "Stop Callboard and keep a copy of the folder. `callboard check` lists what is damaged; restore a backup with "
        "`callboard restore FILE --replace`, or move the folder away to begin with an empty store."
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
