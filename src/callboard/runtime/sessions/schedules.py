"""Wake times of sleeping agents, in UTC: no hour is skipped or repeated."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, cast

from callboard.contracts.ports.agents import Schedule

_SECOND = 1_000_000


def find_next_wake(schedule: Schedule, after: int) -> int:
    """Return the first time of the schedule after a time; 0 after the last one.

    Both are in microseconds since the Unix epoch. `every` counts from `after`, `cron` follows the
    calendar.
    """
    if schedule.every:
        return after + schedule.every * _SECOND
    return _find_cron_time(schedule.cron, after) if schedule.cron else 0


def _find_cron_time(line: str, after: int) -> int:
    # Import it on use: it loads slowly and few sessions need it.
    import croniter

    start = datetime.fromtimestamp(after // _SECOND, tz=UTC)
    try:
        times = cast("Any", croniter).croniter(line, start)
        wake_time = cast("datetime", times.get_next(datetime))
    except (cast("Any", croniter).CroniterError, ValueError):
        # The expression is no longer valid, or its day does not exist, such as 30 February.
        return 0
    return int(wake_time.timestamp()) * _SECOND
