"""Time and ids. Nothing else in the runtime asks the machine for either."""

from __future__ import annotations

import time

import uuid_utils

from callboard.contracts.ids import IdKind, render

#: A wall clock that moves by more than this against the steady one between two looks was set, in microseconds. Less is the
#: ordinary work of a time server, which is followed.
LARGEST_DRIFT = 10_000_000


class Clock:
    """The machine's clock, as it was when the process started and moved on by a clock that no one sets.

    Schedules, expiries and the times of facts follow it, so a wall clock that is set while the process lives changes none of
    them. The next process starts from the wall clock again.
    """

    _offset: int | None = None
    _looked: int | None = None

    def now(self) -> int:
        """Return microseconds since the epoch."""
        wall, steady = self.wall(), self.steady()
        if self._offset is None or abs(wall - steady - self._offset) <= LARGEST_DRIFT:
            self._offset = wall - steady
        return steady + self._offset

    def step(self) -> int:
        """Return by how much the wall clock was set since the last look, in microseconds; negative where it went back.

        Corrections that `now` follows are no steps. The first look returns 0.
        """
        offset = self.wall() - self.steady()
        before, self._looked = self._looked, offset
        return 0 if before is None or abs(offset - before) <= LARGEST_DRIFT else offset - before

    def wall(self) -> int:
        """Return microseconds since the epoch on the wall clock, which a person or a time server sets."""
        return time.time_ns() // 1000

    def steady(self) -> int:
        """Return microseconds on a clock that never goes back and, where the machine has one, counts while it sleeps."""
        # On macOS CLOCK_MONOTONIC counts while the machine sleeps; time.monotonic() does not.
        return time.clock_gettime_ns(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)) // 1000

    def elapsed(self) -> float:
        """Return seconds on a clock that never goes back, for durations."""
        return time.monotonic()


class UuidIds:
    """Ids from UUIDv7: they sort by the time at which they were made."""

    def new(self, kind: IdKind) -> str:
        return render(kind, uuid_utils.uuid7().int)
