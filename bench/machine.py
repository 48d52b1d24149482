"""Properties of the machine that affect speed, and the time of a disk sync."""

from __future__ import annotations

import gc
import os
import platform
import sqlite3
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from callboard import __version__
from callboard.app.hosting.process import settle_heap

from .peers import PEERS

_PACKAGES = ("msgspec", "starlette", "uvicorn", *(package for _, names in PEERS.values() for package in names))


def settle() -> None:
    """Exclude all present objects from later garbage collections, and collect less often, as Callboard's server does.

    Each worker that compares systems calls this for every system, so that no figure contains visits to its modules.
    """
    gc.collect()
    settle_heap()


def resident() -> int:
    """Return the resident bytes of this process."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class CpuTime:
    """CPU time of this process in laps, in milliseconds. Time between two orders is work that a system postponed."""

    def __init__(self) -> None:
        self._lap = time.process_time()

    def lap(self) -> float:
        """Return the milliseconds since the last lap, and begin the next."""
        began, self._lap = self._lap, time.process_time()
        return (self._lap - began) * 1000


def facts() -> dict[str, str]:
    """Return cores, memory, and versions of system software."""
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {
        "cores": str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()),
        "memory": f"{pages / 2**30:.0f} GiB",
        "system": f"{platform.system()} {platform.machine()}",
        "Python": platform.python_version(),
        "SQLite": sqlite3.sqlite_version,
    }


def versions() -> dict[str, str]:
    """Return the versions of the measured packages."""
    packages = {"callboard": __version__}
    for package in _PACKAGES:
        try:
            packages[package] = version(package)
        except PackageNotFoundError:
            continue
    return packages


def fdatasyncs(folder: Path, count: int) -> list[float]:
    """Measure durable writes of 4 KiB; return the milliseconds of each."""
    path = folder / "fdatasync.probe"
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        times: list[float] = []
        for at in range(count):
            os.pwrite(handle, os.urandom(4096), at * 4096)
            began = time.perf_counter()
            os.fdatasync(handle)
            times.append((time.perf_counter() - began) * 1000)
        return times
    finally:
        os.close(handle)
        path.unlink()


def load() -> float:
    """Return the mean number of runnable processes in the last minute."""
    return os.getloadavg()[0]
