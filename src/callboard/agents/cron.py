"""Validation of cron expressions."""

from __future__ import annotations

import re
from typing import Any, cast

#: The smallest and largest number of each field: minute, hour, day, month, day of the week.
_FIELDS = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))
_PART = re.compile(r"^(?:\*|(?P<first>\d{1,2})(?:-(?P<last>\d{1,2}))?)(?:/(?P<step>\d{1,2}))?$", re.ASCII)
#: A time in a leap year, so that 29 February occurs; in seconds since the Unix epoch.
_START = 1_709_164_800.0


def is_cron(line: str) -> bool:
    """Return whether a line has five valid fields: `*`, numbers, ranges, steps and lists of them."""
    fields = line.split()
    return len(fields) == len(_FIELDS) and all(
        _is_valid_part(part, minimum, maximum)
        for field, (minimum, maximum) in zip(fields, _FIELDS, strict=True)
        for part in field.split(",")
    )


def has_next_time(line: str) -> bool:
    """Return whether a cron expression has any next time. 30 February has none."""
    # Loading the library takes a while, and few folders need it.
    import croniter

    try:
        cast("Any", croniter).croniter(line, _START).get_next(float)
    except (cast("Any", croniter).CroniterError, ValueError):
        return False
    return True


def _is_valid_part(part: str, minimum: int, maximum: int) -> bool:
    match = _PART.match(part)
    if match is None or match["step"] in ("0", "00"):
        return False
    if match["first"] is None:
        return True
    first = int(match["first"])
    last = first if match["last"] is None else int(match["last"])
    return minimum <= first <= last <= maximum
