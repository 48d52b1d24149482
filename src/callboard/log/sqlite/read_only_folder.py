"""Connections to a store in a read-only folder.

SQLite reads a file in WAL mode through a shared memory file in the same folder. If that file exists, a process may be
writing. If it does not, no process writes, and the file does not change.
"""

from __future__ import annotations

import atexit
import os
import shutil
import sqlite3
import tempfile
from functools import lru_cache
from pathlib import Path


def is_read_only(path: Path) -> bool:
    """Return True if the folder of the file is read-only."""
    return not os.access(path.parent, os.W_OK)


def connect_read_only(path: Path, timeout: float) -> sqlite3.Connection:
    """Connect to a file in a read-only folder. Raises sqlite3.Error."""
    if _append_ending(path, "-shm").exists():
        return _connect(path, "mode=ro", timeout)
    if _read_size(_append_ending(path, "-wal")):
        # A process ended, or the folder became read-only, before a checkpoint.
        return _connect(_copy(path, _read_times(path)), "mode=rw", timeout)
    return _connect(path, "mode=ro&immutable=1", timeout)


def _connect(path: Path, options: str, timeout: float) -> sqlite3.Connection:
    uri = f"{path.absolute().as_uri()}?{options}"
    return sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False, timeout=timeout)


@lru_cache(maxsize=4)
def _copy(path: Path, times: tuple[int, int]) -> Path:
    """Copy the file and its write-ahead log to a folder that is removed at the end of the process."""
    folder = tempfile.mkdtemp(prefix="callboard-read-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for name in (path, _append_ending(path, "-wal")):
        shutil.copyfile(name, Path(folder, name.name))
    return Path(folder, path.name)


def _read_times(path: Path) -> tuple[int, int]:
    return path.stat().st_mtime_ns, _append_ending(path, "-wal").stat().st_mtime_ns


def _append_ending(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


def _read_size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
