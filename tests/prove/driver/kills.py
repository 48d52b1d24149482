"""Moments of a kill: shortly after a fact, or during a write of the log."""

from __future__ import annotations

import ctypes
import os
import select
import signal
import struct
import time
from pathlib import Path

_MODIFIED = 0x2
_EVENT = struct.Struct("iIII")


def kill_after(pid: int, microseconds: int) -> None:
    """Send SIGKILL after this time. It waits without sleeping, since a sleep is longer."""
    until = time.perf_counter_ns() + microseconds * 1000
    while time.perf_counter_ns() < until:
        pass
    os.kill(pid, signal.SIGKILL)


def kill_while_writing(pid: int, file: Path, writes: int, patience: float) -> bool:
    """Send SIGKILL after this many writes of the file from now on, or when the patience (in
    seconds) ends.

    SQLite writes a transaction's pages one by one, so a number of writes is a place within a
    commit. Linux reports writes through inotify.

    Returns:
        True if the number of writes was reached.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    watch = libc.inotify_init1(os.O_CLOEXEC)
    try:
        if watch < 0 or libc.inotify_add_watch(watch, os.fsencode(file), _MODIFIED) < 0:
            raise OSError(ctypes.get_errno(), f"{file} cannot be watched")
        until = time.monotonic() + patience
        while writes > 0 and select.select([watch], [], [], max(0.0, until - time.monotonic()))[0]:
            # Equal waiting events are merged, so this is a lower bound of the writes.
            writes -= len(os.read(watch, 4096)) // _EVENT.size
        os.kill(pid, signal.SIGKILL)
        return writes <= 0
    finally:
        os.close(watch)
