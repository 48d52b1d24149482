"""Waiting for what must not be abandoned half done, and ending what nobody waits for any more."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")


def kill(process: asyncio.subprocess.Process) -> None:
    """Kills the process, unless it is over.

    asyncio's own way would bury a process that is just over before asyncio's watcher does, which then cannot tell its end.
    """
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)


async def wait_shielded(work: Awaitable[T], stop: Callable[[], None] | None = None) -> tuple[T, bool]:
    """The result of the work, waited for however often this task is cancelled meanwhile, and whether it was cancelled.

    `stop` is told of a cancellation, to bring the work to its end sooner. The caller passes the cancellation on. Raises what
    the work raises, or the cancellation where there was one.
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
