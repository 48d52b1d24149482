"""Whether the times of a cron line ever come."""

from __future__ import annotations

from typing import Any, cast

#: A leap year: the 29th of February comes.
_START = 1_709_164_800.0


def ever_occurs(line: str) -> bool:
    """False for a line that names a day which no month has, or that is not taken for another reason."""
    # It takes a while to load, and few folders need it.
    import croniter

    try:
        cast("Any", croniter).croniter(line, _START).get_next(float)
    except (cast("Any", croniter).CroniterError, ValueError):
        return False
    return True
