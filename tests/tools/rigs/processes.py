"""Processes of this machine, as the kernel tells of them."""

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
    """A process; `born` tells it from a later one of the same number."""

    pid: int
    parent: int
    born: int
    command: str

    def alive(self) -> bool:
        found = look(self.pid)
        return found is not None and found.born == self.born


def look(pid: int) -> Process | None:
    """The process of that number, unless it is dead or about to be buried."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if fields[0] in "ZX" else Process(pid, int(fields[1]), int(fields[19]), command)


def having(*texts: str, parent: bool = False) -> list[Process]:
    """The living processes whose command line has all the texts; with `parent`, only our own children."""
    pids = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
    found = [process for pid in pids if pid != os.getpid() and (process := look(pid)) is not None]
    return [
        process
        for process in found
        if all(text in process.command for text in texts) and (not parent or process.parent == os.getpid())
    ]


async def until(condition: Callable[[], T]) -> T:
    """Waits until the condition holds, and gives what it gave."""
    end = time.monotonic() + SECONDS
    while not (value := condition()):
        assert time.monotonic() < end, "the condition did not come to hold"
        await asyncio.sleep(0.01)
    return value
