"""Time and ids. Nothing else in the runtime asks the machine for either."""

from __future__ import annotations

import time

import uuid_utils

from callboard.contracts.ids import IdKind, render


class Clock:
    """The machine's clock."""

    def now(self) -> int:
        """Microseconds since the epoch."""
        return time.time_ns() // 1000

    def elapsed(self) -> float:
        """Seconds on a clock that never goes back, for durations."""
        return time.monotonic()


class UuidIds:
    """Ids from UUIDv7: they sort by the time at which they were made."""

    def new(self, kind: IdKind) -> str:
        return render(kind, uuid_utils.uuid7().int)
