"""When an agent that sleeps is to wake next. Times are in UTC: no hour of a day is missed or comes twice."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, cast

from callboard.contracts.ports.agents import Schedule

_SECOND = 1_000_000


def next_wake(schedule: Schedule, after: int) -> int:
    """The first time of the schedule after that one, both in microseconds since the Unix epoch; 0 where none comes.

    `every` counts from the time that is given, `cron` from the calendar.
    """
    if schedule.every:
        return after + schedule.every * _SECOND
    return _cron(schedule.cron, after) if schedule.cron else 0


def _cron(line: str, after: int) -> int:
    # It takes a while to load, and few sessions need it.
    import croniter

    start = datetime.fromtimestamp(after // _SECOND, tz=UTC)
    try:
        times = cast("Any", croniter).croniter(line, start)
        found = cast("datetime", times.get_next(datetime))
    except (cast("Any", croniter).CroniterError, ValueError):
        # A line that is no longer taken, or a day that does not come, such as the 30th of February.
        return 0
    return int(found.timestamp()) * _SECOND
