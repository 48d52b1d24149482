"""The signal that a client reads a session's rows."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class ReaderSignal:
    """Ends the wait of the views for a reader. `is_read` returns True while a client reads the rows.

    Without a reader, the views fold facts later and in larger steps.
    """

    def __init__(self, is_read: Callable[[], bool]) -> None:
        self._is_read = is_read
        self._arrival: asyncio.Future[None] | None = None

    def send(self) -> None:
        """Report a reader."""
        if self._arrival is not None and not self._arrival.done():
            self._arrival.set_result(None)

    async def wait(self, longest: float) -> None:
        """Wait until a client reads, at most `longest` seconds."""
        if self._is_read():
            return
        loop = asyncio.get_running_loop()
        self._arrival = loop.create_future()
        timer = loop.call_later(longest, self.send)
        try:
            await self._arrival
        finally:
            timer.cancel()
            self._arrival = None
