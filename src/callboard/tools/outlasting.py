"""Waiting for what must not be abandoned half done."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")


async def outlast(work: Awaitable[T], stop: Callable[[], None] | None = None) -> tuple[T, bool]:
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
