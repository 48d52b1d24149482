"""Waiting that survives cancellation, and killing of processes."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")


def kill(process: asyncio.subprocess.Process) -> None:
    """Kill the process unless it has ended.

    asyncio's `kill` can reap an ended process before its watcher, which then misses the exit code.
    """
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)


async def wait_shielded(work: Awaitable[T], stop: Callable[[], None] | None = None) -> tuple[T, bool]:
    """Wait for the work to end, even if this task is cancelled in the meantime.

    Args:
        stop: Called at a cancellation, to end the work sooner.
    Returns:
        The result, and whether the task was cancelled. The caller raises the cancellation.
    Raises:
        asyncio.CancelledError: The work failed after a cancellation.
    """
    task = asyncio.ensure_future(work)
    cancelled = False
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError:
            cancelled = True
            if stop is not None:
                stop()
    if cancelled and task.exception() is not None:
        raise asyncio.CancelledError
    return task.result(), cancelled
