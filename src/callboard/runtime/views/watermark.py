"""The newest fact that the rows of an open session show."""

from __future__ import annotations

import asyncio


class Watermark:
    """The newest shown `sequence`, for callers that wait for a fact. If the views fail, they receive the error."""

    def __init__(self) -> None:
        self.sequence = 0
        #: The number of callers that wait.
        self.waiting = 0
        # Created only while a caller waits: an event uses more memory than the rest.
        self._moved: asyncio.Event | None = None
        self._failure: BaseException | None = None

    def advance(self, sequence: int) -> None:
        """Record that the views show the fact of that sequence."""
        self.sequence = max(self.sequence, sequence)
        self._wake()

    def fail(self, failure: BaseException | None = None) -> None:
        """Record that the views stopped."""
        self._failure = failure
        self._wake()

    async def wait(self, sequence: int) -> None:
        """Wait until the fact of that sequence is shown."""
        self.waiting += 1
        try:
            while self.sequence < sequence:
                self.check()
                self._moved = self._moved or asyncio.Event()
                await self._moved.wait()
        finally:
            self.waiting -= 1

    def check(self) -> None:
        """Raise what stopped the views."""
        if self._failure is not None:
            raise self._failure

    def _wake(self) -> None:
        moved, self._moved = self._moved, None
        if moved is not None:
            moved.set()
