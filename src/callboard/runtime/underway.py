"""Work that goes on when its asker goes away, until it is over or the runtime closes."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class UnderWay:
    """The work of one kind that is under way. Of what must not be left half way a close waits for the end; other work it
    ends."""

    def __init__(self) -> None:
        # The loop itself holds a task only weakly.
        self._tasks: set[asyncio.Task[Any]] = set()

    def begin(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Begins work that nobody has to wait for."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """What the work comes to; an asker that is cancelled leaves it under way. Raises what the work raises."""
        return await asyncio.shield(self.begin(work))

    async def settled(self) -> None:
        """Waits until what is under way now is over, whatever came of it."""
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def end(self) -> None:
        """Cancels what is under way and waits until it is over."""
        for task in self._tasks:
            task.cancel()
        await self.settled()
