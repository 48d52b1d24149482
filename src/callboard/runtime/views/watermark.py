"""The newest fact that the rows of a session show, in memory and in the store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from callboard.contracts.ports.store import Store
from callboard.contracts.record import Record

from ..slices import yield_in_slices

#: Facts that one read returns.
_PAGE = 1000


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


async def read_stored_watermark(store: Store, session: str) -> int:
    """Return the sequence of the newest fact in the stored rows. Read it before a row, to miss no fact."""
    views = await store.rows.read_views(session)
    return 0 if views is None else views.watermark


async def read_unwritten_facts(store: Store, session: str, watermark: int) -> AsyncGenerator[Record]:
    """Yield the facts after the watermark, with pauses. Without a reader, rows are seconds behind the log."""
    while records := await store.facts.read(session, after=watermark, limit=_PAGE):
        async for record in yield_in_slices(records):
            yield record
        watermark = records[-1].sequence
