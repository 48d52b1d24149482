"""Background tasks of one prompt."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine

log = logging.getLogger(__name__)


class PromptTasks:
    """Tasks of one kind.

    An error in an `open` task fails the prompt. Cancelled tasks end in `wait_settled`, and their
    errors are logged.
    """

    def __init__(self) -> None:
        self.open: set[asyncio.Task[None]] = set()
        self._dropped: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[None, None, None]) -> None:
        """Start a task."""
        self.open.add(asyncio.create_task(work))

    def cancel_all(self) -> None:
        """Cancel all open tasks."""
        for task in self.open:
            task.cancel()
        self._dropped |= self.open
        self.open.clear()

    async def wait_settled(self) -> None:
        """Wait until the cancelled tasks have ended."""
        dropped, self._dropped = self._dropped, set()
        for result in await asyncio.gather(*dropped, return_exceptions=True):
            if isinstance(result, Exception):
                log.error("a task of an ended prompt failed", exc_info=result)
