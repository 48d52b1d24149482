"""Protected names kept read-only while a command runs.

What is there is mounted read-only. What is not there must not be made either, and a mount needs a place: for as long as
a command runs an empty folder stands there, marked by its mode. It is taken away with the last command that needed it; one
that a killed process left behind is known by its mark and taken away next time.
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


def unkept(folder: Folder) -> tuple[str, ...]:
    """The protected names that cannot be kept, because a link or something stranger than a file has the name."""
    with folder.directory("") as handle:
        return tuple(name for name in PROTECTED if (mode := _mode(handle, name)) is not None and not _ordinary(mode))


@contextmanager
def kept(folder: Folder) -> Generator[list[str]]:
    """The protected paths of the folder, absolute, each of which is there and can be mounted. Raises OSError."""
    names: list[str] = []
    with folder.directory("") as handle:
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
            # Somebody may have put a file there meanwhile; then the folder is theirs.
            with suppress(OSError):
                os.rmdir(key[2], dir_fd=handle)


def _mode(handle: int, name: str) -> int | None:
    try:
        return os.stat(name, dir_fd=handle, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return None


def _ordinary(mode: int) -> bool:
    return stat.S_ISDIR(mode) or stat.S_ISREG(mode)
