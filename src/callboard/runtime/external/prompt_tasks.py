"""The tasks that one prompt of an agent has beside its events."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine

log = logging.getLogger(__name__)


class PromptTasks:
    """Those of one kind. `open` are to be looked at: one that fails fails the prompt. Those that are dropped are waited for
    in `settled`, and what they failed with goes to the file of the process."""

    def __init__(self) -> None:
        self.open: set[asyncio.Task[None]] = set()
        self._dropped: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[None, None, None]) -> None:
        """Begins one."""
        self.open.add(asyncio.create_task(work))

    def cancel_all(self) -> None:
        """Nobody waits for what they come to any more."""
        for one in self.open:
            one.cancel()
        self._dropped |= self.open
        self.open.clear()

    async def wait_settled(self) -> None:
        """Waits until what was dropped is over."""
        dropped, self._dropped = self._dropped, set()
        for came in await asyncio.gather(*dropped, return_exceptions=True):
            if isinstance(came, Exception):
                log.error("what an agent waited for failed, and its prompt had ended", exc_info=came)
