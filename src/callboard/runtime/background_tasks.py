"""The owner of tasks: work that goes on when its asker goes away, until it is over or the runtime closes."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Coroutine
from typing import Any, TypeVar

from callboard.contracts.errors import Refusal

T = TypeVar("T")

log = logging.getLogger(__name__)


class BackgroundTasks:
    """The work of one kind that is under way. Of what must not be left half way a close waits for the end; other work it
    ends. What fails reaches those who wait for it, and where nobody does, the file of the process."""

    def __init__(self) -> None:
        # The loop itself holds a task only weakly.
        self._tasks: set[asyncio.Task[Any]] = set()
        self._waiting: Counter[asyncio.Task[Any]] = Counter()

    def __bool__(self) -> bool:
        return bool(self._tasks)

    def start(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Begins work that nobody has to wait for."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """What the work comes to; an asker that is cancelled leaves it under way. Raises what the work raises."""
        return await self.wait(self.start(work))

    async def wait(self, task: asyncio.Task[T]) -> T:
        """What begun work comes to, for one more asker. Raises what the work raises."""
        self._waiting[task] += 1
        try:
            return await asyncio.shield(task)
        finally:
            self._waiting[task] -= 1
            if not self._waiting[task]:
                del self._waiting[task]

    async def wait_all(self) -> None:
        """Waits until what is under way now is over, whatever came of it."""
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def cancel_all(self) -> None:
        """Cancels what is under way and waits until it is over."""
        for task in self._tasks:
            task.cancel()
        await self.wait_all()

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is None or self._waiting[task]:
            return
        if isinstance(error, Refusal):
            log.warning("nobody waited for what was refused: %s", error.problem.message)
        else:
            log.error("work failed that nobody waited for", exc_info=error)
