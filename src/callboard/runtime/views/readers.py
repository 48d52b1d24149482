"""The readers of a session's rows: without one, facts are folded later and in larger steps."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class Readers:
    """Waits for readers. `has_any` returns whether rows are read at the moment."""

    def __init__(self, has_any: Callable[[], bool]) -> None:
        self._has_any = has_any
        self._arrival: asyncio.Future[None] | None = None

    def announce(self) -> None:
        """End the wait for a reader."""
        if self._arrival is not None and not self._arrival.done():
            self._arrival.set_result(None)

    async def wait(self, longest: float) -> None:
        """Wait until rows are read, at most `longest` seconds."""
        if self._has_any():
            return
        loop = asyncio.get_running_loop()
        self._arrival = loop.create_future()
        timer = loop.call_later(longest, self.announce)
        try:
            await self._arrival
        finally:
            timer.cancel()
            self._arrival = None
