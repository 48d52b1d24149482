"""Tasks that continue when their caller is cancelled."""

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
    """A set of running tasks.

    An error reaches the callers that wait for the task. If no caller waits, it is logged.
    """

    def __init__(self) -> None:
        # The event loop keeps only a weak reference to a task.
        self._tasks: set[asyncio.Task[Any]] = set()
        self._waiters: Counter[asyncio.Task[Any]] = Counter()

    def __bool__(self) -> bool:
        return bool(self._tasks)

    def start(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Start a task that no caller has to wait for."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._handle_done)
        return task

    def add(self, task: asyncio.Task[Any]) -> None:
        """Add a running task of another owner, which handles its failure."""
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def __contains__(self, task: asyncio.Task[Any]) -> bool:
        return task in self._tasks

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Start a task and return its result. A cancelled caller leaves the task running."""
        return await self.wait(self.start(work))

    async def wait(self, task: asyncio.Task[T]) -> T:
        """Return the result of a started task."""
        self._waiters[task] += 1
        try:
            return await asyncio.shield(task)
        finally:
            self._waiters[task] -= 1
            if not self._waiters[task]:
                del self._waiters[task]

    async def wait_all(self) -> None:
        """Wait until all tasks have ended. Errors are not raised."""
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def cancel_all(self) -> None:
        """Cancel all tasks and wait until they have ended."""
        for task in self._tasks:
            task.cancel()
        await self.wait_all()

    def _handle_done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is None or self._waiters[task]:
            return
        if isinstance(error, Refusal):
            log.warning("a background task was refused: %s", error.problem.message)
        else:
            log.error("a background task failed", exc_info=error)
