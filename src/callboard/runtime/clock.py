"""The only source of time and ids in the runtime."""

from __future__ import annotations

import time

import uuid_utils

from callboard.contracts.ids import IdKind, render

#: If the wall clock moves by more microseconds than this against the steady clock, a person or
#: program has set it. Smaller moves are corrections by a time server, which are followed.
MAX_DRIFT_MICROSECONDS = 10_000_000
#: On macOS CLOCK_MONOTONIC counts while the machine sleeps; time.monotonic() does not.
_STEADY: int = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


class Clock:
    """The wall clock at process start, advanced by a steady clock.

    Schedules, expiries and times of facts use this clock. A wall clock that is set while the
    process runs changes none of them. The next process reads the wall clock again.
    """

    _offset: int | None = None
    _looked: int | None = None

    def now(self) -> int:
        """Return microseconds since the epoch."""
        wall, steady = self.wall(), self.steady()
        if self._offset is None or abs(wall - steady - self._offset) <= MAX_DRIFT_MICROSECONDS:
            self._offset = wall - steady
        return steady + self._offset

    def step(self) -> int:
        """Return by how much the wall clock was set since the last call, in microseconds.

        The value is negative if the clock went back. Corrections that `now` follows do not count.
        The first call returns 0.
        """
        offset = self.wall() - self.steady()
        before, self._looked = self._looked, offset
        return 0 if before is None or abs(offset - before) <= MAX_DRIFT_MICROSECONDS else offset - before

    def wall(self) -> int:
        """Return microseconds since the epoch on the wall clock."""
        return time.time_ns() // 1000

    def steady(self) -> int:
        """Return microseconds on a clock that never goes back. It counts while the machine sleeps,
        if the system supports that."""
        return time.clock_gettime_ns(_STEADY) // 1000

    def elapsed(self) -> float:
        """Return seconds on a clock that never goes back. Use it for durations."""
        return time.monotonic()


class UuidIds:
    """Ids from UUIDv7, which sort by creation time."""

    def new(self, kind: IdKind) -> str:
        return render(kind, uuid_utils.uuid7().int)
