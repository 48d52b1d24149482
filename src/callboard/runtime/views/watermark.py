"""How far the views of a session are, for those who wait until they show a fact."""

from __future__ import annotations

import asyncio


class Watermark:
    """`sequence` is the newest fact that is shown. Where the views stopped, whoever waits gets what stopped them."""

    def __init__(self) -> None:
        self.sequence = 0
        # Only while somebody waits: an event takes more memory than the rest of this.
        self._moved: asyncio.Event | None = None
        self._failure: BaseException | None = None

    def advance(self, sequence: int) -> None:
        """The views show the fact of that sequence."""
        self.sequence = max(self.sequence, sequence)
        self._wake()

    def fail(self, failure: BaseException | None = None) -> None:
        """The views get no further."""
        self._failure = failure
        self._wake()

    async def wait(self, sequence: int) -> None:
        """Waits until the fact of that sequence is shown. Raises what stopped the views before."""
        while self.sequence < sequence:
            self.check()
            self._moved = self._moved or asyncio.Event()
            await self._moved.wait()

    def check(self) -> None:
        """Raises what stopped the views."""
        if self._failure is not None:
            raise self._failure

    def _wake(self) -> None:
        moved, self._moved = self._moved, None
        if moved is not None:
            moved.set()
