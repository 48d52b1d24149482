"""What a provider says of its limits, in the headers of its answers.

OpenAI and those like it say `x-ratelimit-remaining-tokens`, Anthropic `anthropic-ratelimit-tokens-remaining`; some say only
`x-ratelimit-remaining`, which counts requests. When a limit begins anew stands there as a duration (`6m0s`), a date, or a
number of seconds or of a clock.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Literal, cast

from callboard.contracts.facts.model import Limit
from callboard.contracts.ports.model import Quota

_What = Literal["requests", "tokens", "input_tokens", "output_tokens"]
_WHATS: tuple[_What, ...] = ("requests", "tokens", "input_tokens", "output_tokens")
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|us|µs|ns|s|m|h|d)")
_UNIT_MS = {"ns": 1e-6, "us": 1e-3, "µs": 1e-3, "ms": 1.0, "s": 1e3, "m": 6e4, "h": 3.6e6, "d": 8.64e7}
#: Numbers from here on are times of a clock in seconds, and from there on in milliseconds.
_CLOCK_S, _CLOCK_MS = 1e9, 1e11
#: Nothing that a provider says of a limit is longer than that, so a number that is says something else.
_LONGEST_MS = 400 * 86_400_000


def quota_of(headers: Mapping[str, str], *, retry_after: float | None = None, exhausted: bool = False) -> Quota | None:
    """What the headers (names in lower case) say; None where that is nothing. `retry_after` is in seconds."""
    now = _date_of(headers)
    limits = tuple(limit for what in _WHATS if (limit := _limit(headers, what, now)) is not None)
    if not limits and retry_after is None and not exhausted:
        return None
    after = round(retry_after * 1000) if retry_after is not None else None
    return Quota(limits=limits, retry_after_ms=after, exhausted=exhausted)


def _limit(headers: Mapping[str, str], what: _What, now: datetime) -> Limit | None:
    dashed = what.replace("_", "-")
    told = {
        kind: headers.get(f"x-ratelimit-{kind}-{dashed}")
        or headers.get(f"anthropic-ratelimit-{dashed}-{kind}")
        or (headers.get(f"x-ratelimit-{kind}") if what == "requests" else None)
        for kind in ("limit", "remaining", "reset")
    }
    limit, remaining = _count(told["limit"]), _count(told["remaining"])
    if limit is None and remaining is None:
        return None
    return Limit(what=what, limit=limit, remaining=remaining, resets_in_ms=_wait(told["reset"], now))


def _count(text: str | None) -> int | None:
    # Some say `100, 100;w=60`: the first number is the limit.
    number = (text or "").split(",")[0].split(";")[0].strip()
    return int(number) if number.isascii() and number.isdigit() and len(number) < 16 else None


def _wait(text: str | None, now: datetime) -> int | None:
    """The milliseconds until then; None where that cannot be read."""
    if not text:
        return None
    found = cast("list[tuple[str, str]]", _DURATION.findall(text))
    if found and "".join(number + unit for number, unit in found) == text:
        return _bounded(sum(float(number) * _UNIT_MS[unit] for number, unit in found))
    try:
        number = float(text)
    except ValueError:
        try:
            until = datetime.fromisoformat(text)
        except ValueError:
            return None
        return _bounded((until - now).total_seconds() * 1000) if until.tzinfo is not None else None
    if number >= _CLOCK_MS:
        return _bounded(number - now.timestamp() * 1000)
    return _bounded((number - now.timestamp()) * 1000 if number >= _CLOCK_S else number * 1000)


def _bounded(milliseconds: float) -> int | None:
    return max(0, round(milliseconds)) if milliseconds < _LONGEST_MS else None


def _date_of(headers: Mapping[str, str]) -> datetime:
    """The server's own time, since its dates count from that."""
    try:
        told = parsedate_to_datetime(headers.get("date", ""))
    except ValueError:
        return datetime.now(UTC)
    return told if told.tzinfo is not None else told.replace(tzinfo=UTC)
