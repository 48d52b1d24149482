"""Processes of this machine."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeVar

T = TypeVar("T")
SECONDS = 60.0


class Process(NamedTuple):
    """A process. `born` distinguishes it from a later process with the same number."""

    pid: int
    parent: int
    born: int
    command: str

    def alive(self) -> bool:
        current = read_process(self.pid)
        return current is not None and current.born == self.born


def read_process(pid: int) -> Process | None:
    """Return the process with this number; None if it is dead."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if fields[0] in "ZX" else Process(pid, int(fields[1]), int(fields[19]), command)


def find_processes(*texts: str, parent: bool = False) -> list[Process]:
    """Return the living processes with all the texts in the command line; with `parent`, only our children."""
    pids = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
    processes = [process for pid in pids if pid != os.getpid() and (process := read_process(pid)) is not None]
    return [
        process
        for process in processes
        if all(text in process.command for text in texts) and (not parent or process.parent == os.getpid())
    ]


def find_sleepers(mark: str) -> list[Process]:
    """Return the living `sleep` processes with this mark."""
    return [process for process in find_processes("sleep", mark) if process.command.startswith("sleep")]


async def wait_until(condition: Callable[[], T]) -> T:
    """Wait until the condition is true, and return its value."""
    end = time.monotonic() + SECONDS
    while not (value := condition()):
        assert time.monotonic() < end, f"the condition was not true within {SECONDS:g} seconds"
        await asyncio.sleep(0.01)
    return value
