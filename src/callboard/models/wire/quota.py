"""A provider's limits from the headers of its responses.

OpenAI and similar providers send `x-ratelimit-remaining-tokens`, Anthropic `anthropic-ratelimit-tokens-remaining`; others send
`x-ratelimit-remaining` for requests. A reset is a duration (`6m0s`), a date, a number of seconds or a clock time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Literal, cast

from callboard.contracts.facts.model import Limit
from callboard.contracts.ports.model import Quota

_Unit = Literal["requests", "tokens", "input_tokens", "output_tokens"]
_UNITS: tuple[_Unit, ...] = ("requests", "tokens", "input_tokens", "output_tokens")
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|us|µs|ns|s|m|h|d)")
_UNIT_MS = {"ns": 1e-6, "us": 1e-3, "µs": 1e-3, "ms": 1.0, "s": 1e3, "m": 6e4, "h": 3.6e6, "d": 8.64e7}
#: Numbers from these on are clock times in seconds and in milliseconds.
_CLOCK_SECONDS, _CLOCK_MS = 1e9, 1e11
#: A longer reset, in milliseconds, is a mistake.
_MAX_RESET_MS = 400 * 86_400_000


def read_quota(
    headers: Mapping[str, str], *, retry_after: float | None = None, exhausted: bool = False
) -> Quota | None:
    """Return the limits in the headers (names in lower case), or None. `retry_after` is in seconds."""
    now = _read_date(headers)
    limits = tuple(limit for unit in _UNITS if (limit := _read_limit(headers, unit, now)) is not None)
    if not limits and retry_after is None and not exhausted:
        return None
    after = round(retry_after * 1000) if retry_after is not None else None
    return Quota(limits=limits, retry_after_ms=after, exhausted=exhausted)


def _read_limit(headers: Mapping[str, str], unit: _Unit, now: datetime) -> Limit | None:
    dashed = unit.replace("_", "-")
    values = {
        kind: headers.get(f"x-ratelimit-{kind}-{dashed}")
        or headers.get(f"anthropic-ratelimit-{dashed}-{kind}")
        or (headers.get(f"x-ratelimit-{kind}") if unit == "requests" else None)
        for kind in ("limit", "remaining", "reset")
    }
    limit, remaining = _parse_count(values["limit"]), _parse_count(values["remaining"])
    if limit is None and remaining is None:
        return None
    return Limit(what=unit, limit=limit, remaining=remaining, resets_in_ms=_parse_reset(values["reset"], now))


def _parse_count(text: str | None) -> int | None:
    # In `100, 100;w=60` the first number is the limit.
    number = (text or "").split(",")[0].split(";")[0].strip()
    return int(number) if number.isascii() and number.isdigit() and len(number) < 16 else None


def _parse_reset(text: str | None, now: datetime) -> int | None:
    """Return the milliseconds until the reset, or None."""
    if not text:
        return None
    pieces = cast("list[tuple[str, str]]", _DURATION.findall(text))
    if pieces and "".join(number + unit for number, unit in pieces) == text:
        return _round(sum(float(number) * _UNIT_MS[unit] for number, unit in pieces))
    try:
        number = float(text)
    except ValueError:
        try:
            until = datetime.fromisoformat(text)
        except ValueError:
            return None
        return _round((until - now).total_seconds() * 1000) if until.tzinfo is not None else None
    if number >= _CLOCK_MS:
        return _round(number - now.timestamp() * 1000)
    return _round((number - now.timestamp()) * 1000 if number >= _CLOCK_SECONDS else number * 1000)


def _round(milliseconds: float) -> int | None:
    return max(0, round(milliseconds)) if milliseconds < _MAX_RESET_MS else None


def _read_date(headers: Mapping[str, str]) -> datetime:
    """Return the server's time, which its dates relate to."""
    try:
        date = parsedate_to_datetime(headers.get("date", ""))
    except ValueError:
        return datetime.now(UTC)
    return date if date.tzinfo is not None else date.replace(tzinfo=UTC)
