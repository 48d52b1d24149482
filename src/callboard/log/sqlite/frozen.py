"""Reading a store where no file can be written: a read-only file system, or the folder of another user.

SQLite reads a file in WAL mode through shared memory, a file beside it. Where that file is there, a process may be writing
and SQLite reads beside it. Where it is not and cannot be made, no process writes here, so the file does not change.
"""

from __future__ import annotations

import atexit
import os
import shutil
import sqlite3
import tempfile
from functools import lru_cache
from pathlib import Path


def is_frozen(path: Path) -> bool:
    """Return True where the folder of the file cannot be written to."""
    return not os.access(path.parent, os.W_OK)


def connect_frozen(path: Path, timeout: float) -> sqlite3.Connection:
    """Connect to a file whose folder cannot be written to. Raises sqlite3.Error."""
    if _beside(path, "-shm").exists():
        return _connect(path, "mode=ro", timeout)
    if _size(_beside(path, "-wal")):
        # A process was killed, or the file system was frozen, before this was copied back into the file.
        return _connect(_unpacked(path, _mark(path)), "mode=rw", timeout)
    return _connect(path, "mode=ro&immutable=1", timeout)


def _connect(path: Path, how: str, timeout: float) -> sqlite3.Connection:
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?{how}", uri=True, isolation_level=None, check_same_thread=False, timeout=timeout
    )


@lru_cache(maxsize=4)
def _unpacked(path: Path, mark: tuple[int, int]) -> Path:
    """Return a copy of the file with its write-ahead log, which is removed at the end of the process."""
    folder = tempfile.mkdtemp(prefix="callboard-read-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for name in (path, _beside(path, "-wal")):
        shutil.copyfile(name, Path(folder, name.name))
    return Path(folder, path.name)


def _mark(path: Path) -> tuple[int, int]:
    return path.stat().st_mtime_ns, _beside(path, "-wal").stat().st_mtime_ns


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
