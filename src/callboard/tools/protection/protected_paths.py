"""Protected names at the top of a folder, read-only while a command runs.

An existing path is mounted read-only. A missing one must not be created, and a mount needs a place:
an empty folder with a special mode is created for the duration of the command. The last command
that needs it removes it. One that a killed process left is recognised by its mode and removed the
next time.
"""

from __future__ import annotations

import os
import stat
import threading
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager, suppress

from ..files.handles import Folder
from ..files.paths import PROTECTED

_MARK = 0o555

_users: Counter[tuple[int, int, str]] = Counter()
_lock = threading.Lock()


def list_unprotectable(folder: Folder) -> tuple[str, ...]:
    """Return the protected names that cannot be mounted, because they are links or special files."""
    with folder.open_directory("") as handle:
        return tuple(name for name in PROTECTED if (mode := _mode(handle, name)) is not None and not _ordinary(mode))


@contextmanager
def protect(folder: Folder) -> Generator[list[str]]:
    """Return the absolute protected paths of the folder. Each exists and can be mounted. Raises OSError."""
    names: list[str] = []
    with folder.open_directory("") as handle:
        found = os.fstat(handle)
        try:
            for name in PROTECTED:
                _hold(handle, (found.st_dev, found.st_ino, name))
                names.append(name)
            yield [f"{folder.path}/{name}" for name in PROTECTED if _ordinary(_mode(handle, name) or 0)]
        finally:
            for name in names:
                _let_go(handle, (found.st_dev, found.st_ino, name))


def _hold(handle: int, key: tuple[int, int, str]) -> None:
    with _lock:
        with suppress(FileExistsError):
            os.mkdir(key[2], _MARK, dir_fd=handle)
            os.chmod(key[2], _MARK, dir_fd=handle)
        _users[key] += 1


def _let_go(handle: int, key: tuple[int, int, str]) -> None:
    with _lock:
        _users[key] -= 1
        if _users[key] > 0:
            return
        del _users[key]
        mode = _mode(handle, key[2])
        if mode is not None and stat.S_ISDIR(mode) and stat.S_IMODE(mode) == _MARK:
            # If a process put a file there, the folder stays.
            with suppress(OSError):
                os.rmdir(key[2], dir_fd=handle)


def _mode(handle: int, name: str) -> int | None:
    try:
        return os.stat(name, dir_fd=handle, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return None


def _ordinary(mode: int) -> bool:
    return stat.S_ISDIR(mode) or stat.S_ISREG(mode)
