"""Moments at which a process is killed: after a fact with a fraction of a millisecond, or while its log is being written."""

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


def after(pid: int, microseconds: int) -> None:
    """SIGKILL after so long, waited for without sleeping since a sleep is longer."""
    until = time.perf_counter_ns() + microseconds * 1000
    while time.perf_counter_ns() < until:
        pass
    os.kill(pid, signal.SIGKILL)


def while_writing(pid: int, file: Path, writes: int, patience: float) -> bool:
    """SIGKILL once the file was written to so many times from now on, or the patience (in seconds) is over.

    SQLite writes a transaction's pages one by one, so that a number of writes is a place within a commit. Returns whether it
    came to that. Linux tells of writes through inotify.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    watch = libc.inotify_init1(os.O_CLOEXEC)
    try:
        if watch < 0 or libc.inotify_add_watch(watch, os.fsencode(file), _MODIFIED) < 0:
            raise OSError(ctypes.get_errno(), f"{file} cannot be watched")
        until = time.monotonic() + patience
        while writes > 0 and select.select([watch], [], [], max(0.0, until - time.monotonic()))[0]:
            # Equal events that wait are told as one, so this is a lower bound of what was written.
            writes -= len(os.read(watch, 4096)) // _EVENT.size
        os.kill(pid, signal.SIGKILL)
        return writes <= 0
    finally:
        os.close(watch)
