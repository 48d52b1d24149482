"""Timers of all sessions: expiring actions and sleeping agents."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable, Coroutine

from callboard.control.outcomes import Outcome

from ..background_tasks import BackgroundTasks
from ..clock import Clock


class ActionExpiry:
    """One timer for all sessions. It calls `due` (session, report) at the time of a report.

    Times are in microseconds since the epoch. The timer reads the clock at least every
    `clock_interval` seconds, because a clock may be set and a machine may sleep.
    """

    def __init__(
        self, clock: Clock, due: Callable[[str, Outcome], Coroutine[None, None, None]], clock_interval: float = 60.0
    ) -> None:
        self._clock = clock
        self._clock_interval = clock_interval
        self._report = due
        self._keys: set[str] = set()
        self._heap: list[tuple[int, str, str, Outcome]] = []
        self._timer: asyncio.TimerHandle | None = None
        self._tasks = BackgroundTasks()
        self._closed = False

    def add(self, session: str, key: str, at: int, outcome: Outcome) -> None:
        """Send the report to the session at that time. A key that is already waiting is not added again."""
        if key in self._keys or self._closed:
            return
        self._keys.add(key)
        heapq.heappush(self._heap, (at, key, session, outcome))
        self._set_timer()

    async def close(self) -> None:
        """Drop all waiting reports."""
        self._closed = True
        self._heap.clear()
        self._set_timer()
        await self._tasks.wait_all()

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._heap:
            # Facts use this clock. The loop's clock can be ahead of it; then the timer is set
            # again.
            wait = max(0.0, (self._heap[0][0] - self._clock.now()) / 1_000_000)
            self._timer = asyncio.get_running_loop().call_later(min(wait, self._clock_interval), self._expire_due)

    def _expire_due(self) -> None:
        self._timer = None
        while self._heap and self._heap[0][0] <= self._clock.now():
            _, key, session, report = heapq.heappop(self._heap)
            self._keys.discard(key)
            self._tasks.start(self._report(session, report))
        self._set_timer()
