"""The writer's lock: a lock on a file, which the system releases when the process ends."""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path

from ...contracts.errors import Refusal

LOCK_FILE = "writer.lock"


class WriterLock:
    """The exclusive lock on a store's folder, until `release` or the end of the process.

    Raises:
        Refusal: `store_locked` if another process has the lock.
    """

    def __init__(self, folder: Path) -> None:
        self._file = os.open(folder / LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            holder = _read_holder(self._file)
            os.close(self._file)
            raise Refusal(
                "store_locked",
                f"Another process{f' ({holder})' if holder else ''} writes to the store in {folder}.",
                hint="Use that process, open the store read-only, or stop that process first.",
            ) from error
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, f"{os.getpid()}\n".encode(), 0)

    def release(self) -> None:
        """Release the lock. Can be repeated."""
        with contextlib.suppress(OSError):
            os.close(self._file)


def find_writer(folder: Path) -> int | None:
    """Return the id of the process that writes to a store, 0 if its id is unknown, or None if there is none.

    Also finds a stopped or busy process. Works on a read-only file system. Raises OSError.
    """
    try:
        # O_NONBLOCK, because opening a pipe would wait for its writer.
        file = os.open(folder / LOCK_FILE, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = _read_holder(file)
        return int(holder) if holder.isdecimal() else 0
    finally:
        os.close(file)
    return None


def _read_holder(file: int) -> str:
    return os.pread(file, 32, 0).decode("ascii", "replace").strip()
