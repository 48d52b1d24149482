"""Longest blocks of an event loop, measured as gaps between the ticks of a timer."""

from __future__ import annotations

import asyncio
import time
from typing import Self

#: Seconds between two ticks.
EVERY = 0.001


class Heartbeat:
    """Measurement of the current loop, as a context manager.

    `wall` and `worked` are the longest blocks in milliseconds: as wall time, which includes other
    processes and threads, and as CPU time of the loop's thread.

    Example:
        with Heartbeat() as heart:
            await work()
        print(heart.wall)
    """

    def __init__(self) -> None:
        self.wall = 0.0
        self.worked = 0.0

    def __enter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        self._last_tick = (time.perf_counter(), time.thread_time())
        self._timer = self._loop.call_later(EVERY, self._tick)
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        self._look()

    def _tick(self) -> None:
        self._look()
        self._timer = self._loop.call_later(EVERY, self._tick)

    def _look(self) -> None:
        now = (time.perf_counter(), time.thread_time())
        self.wall = max(self.wall, (now[0] - self._last_tick[0] - EVERY) * 1000)
        self.worked = max(self.worked, (now[1] - self._last_tick[1]) * 1000)
        self._last_tick = now
