"""Protected names at the top of a folder, read-only while a command runs.

Existing paths are mounted read-only. For a missing one, an empty placeholder folder with a special
mode is created and mounted. The last command that needs it removes it. A placeholder that a killed
process left is recognised by its mode and removed later.
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

_PLACEHOLDER_MODE = 0o555

_users: Counter[tuple[int, int, str]] = Counter()
_lock = threading.Lock()


def list_unprotectable(folder: Folder) -> tuple[str, ...]:
    """Return the protected names that are links or special files and cannot be mounted."""
    with folder.open_directory("") as handle:
        return tuple(
            name for name in PROTECTED if (mode := _read_mode(handle, name)) is not None and not _is_mountable(mode)
        )


@contextmanager
def protect(folder: Folder) -> Generator[list[str]]:
    """Return the absolute protected paths, which exist during the block and can be mounted. Raises OSError."""
    names: list[str] = []
    with folder.open_directory("") as handle:
        status = os.fstat(handle)
        try:
            for name in PROTECTED:
                _acquire(handle, (status.st_dev, status.st_ino, name))
                names.append(name)
            yield [f"{folder.path}/{name}" for name in PROTECTED if _is_mountable(_read_mode(handle, name) or 0)]
        finally:
            for name in names:
                _release(handle, (status.st_dev, status.st_ino, name))


def _acquire(handle: int, key: tuple[int, int, str]) -> None:
    with _lock:
        with suppress(FileExistsError):
            os.mkdir(key[2], _PLACEHOLDER_MODE, dir_fd=handle)
            os.chmod(key[2], _PLACEHOLDER_MODE, dir_fd=handle)
        _users[key] += 1


def _release(handle: int, key: tuple[int, int, str]) -> None:
    with _lock:
        _users[key] -= 1
        if _users[key] > 0:
            return
        del _users[key]
        mode = _read_mode(handle, key[2])
        if mode is not None and stat.S_ISDIR(mode) and stat.S_IMODE(mode) == _PLACEHOLDER_MODE:
            # A folder with content stays.
            with suppress(OSError):
                os.rmdir(key[2], dir_fd=handle)


def _read_mode(handle: int, name: str) -> int | None:
    try:
        return os.stat(name, dir_fd=handle, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return None


def _is_mountable(mode: int) -> bool:
    return stat.S_ISDIR(mode) or stat.S_ISREG(mode)
