"""What time brings to sessions (pending actions run out): one timer for all, so that one that only waits holds nothing."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable, Coroutine

from callboard.control.outcomes import Outcome

from ..background_tasks import BackgroundTasks
from ..clock import Clock


class ActionExpiry:
    """Tells `due` (session, report) once the time of a report has come. Times are in microseconds since the epoch.

    The clock is looked at again after `look` seconds at the latest: it may have been set, or the machine may have slept.
    """

    def __init__(
        self, clock: Clock, due: Callable[[str, Outcome], Coroutine[None, None, None]], look: float = 60.0
    ) -> None:
        self._clock = clock
        self._look = look
        self._due = due
        self._known: set[str] = set()
        self._heap: list[tuple[int, str, str, Outcome]] = []
        self._timer: asyncio.TimerHandle | None = None
        self._tasks = BackgroundTasks()
        self._closed = False

    def add(self, session: str, key: str, at: int, report: Outcome) -> None:
        """The session is told that then. What is known under the key already is not added again."""
        if key in self._known or self._closed:
            return
        self._known.add(key)
        heapq.heappush(self._heap, (at, key, session, report))
        self._plan()

    async def close(self) -> None:
        """Tells of nothing more."""
        self._closed = True
        self._heap.clear()
        self._plan()
        await self._tasks.wait_all()

    def _plan(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._heap:
            # The clock that counts is the one of the facts; the loop's may be ahead of it, and then this is planned again.
            wait = max(0.0, (self._heap[0][0] - self._clock.now()) / 1_000_000)
            self._timer = asyncio.get_running_loop().call_later(min(wait, self._look), self._tell)

    def _tell(self) -> None:
        self._timer = None
        while self._heap and self._heap[0][0] <= self._clock.now():
            _, key, session, report = heapq.heappop(self._heap)
            self._known.discard(key)
            self._tasks.start(self._due(session, report))
        self._plan()
