"""Who may write: a lock on a file that the system lets go of when its process dies."""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path

from ...contracts.errors import Refusal

LOCK_FILE = "writer.lock"


class WriterLock:
    """The exclusive lock on a store's folder, held until `release` or the end of the process."""

    def __init__(self, folder: Path) -> None:
        """Takes the lock. Raises Refusal `store_locked` where another process holds it."""
        self._file = os.open(folder / LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            holder = os.pread(self._file, 32, 0).decode("ascii", "replace").strip()
            os.close(self._file)
            raise Refusal(
                "store_locked",
                f"Another process{f' ({holder})' if holder else ''} writes to the store in {folder}.",
                hint="Work through that process, open the store read-only, or stop that process first.",
            ) from error
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, f"{os.getpid()}\n".encode(), 0)

    def release(self) -> None:
        """Lets the lock go. Harmless when repeated."""
        with contextlib.suppress(OSError):
            os.close(self._file)


def find_writer(folder: Path) -> int | None:
    """Return the process that writes to a store: None where none does, 0 where its id is not known.

    Looks at the lock, which the system releases when a process ends, so that a process that is stopped or busy is seen too.
    Works on a read-only file system. Raises OSError.
    """
    try:
        # Without the flag, opening a pipe waits for its writer.
        file = os.open(folder / LOCK_FILE, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.pread(file, 32, 0).decode("ascii", "replace").strip()
        return int(holder) if holder.isdecimal() else 0
    finally:
        os.close(file)
    return None
