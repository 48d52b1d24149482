"""The wait that a provider requests, in its headers, in fields of its error, or in the error's text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from callboard.contracts.ports.model import Quota

_UNIT_SECONDS: Final = {
    "ms": 0.001,
    "millisecond": 0.001,
    "milliseconds": 0.001,
    "s": 1.0,
    "sec": 1.0,
    "secs": 1.0,
    "second": 1.0,
    "seconds": 1.0,
    "m": 60.0,
    "min": 60.0,
    "mins": 60.0,
    "minute": 60.0,
    "minutes": 60.0,
    "h": 3600.0,
    "hour": 3600.0,
    "hours": 3600.0,
}
_UNIT: Final = "|".join(sorted(_UNIT_SECONDS, key=len, reverse=True))
_NUMBER: Final = r"(\d{1,9}(?:\.\d{1,9})?)"
_PIECE: Final = re.compile(rf"{_NUMBER}\s*({_UNIT})\b|{_NUMBER}({_UNIT})(?=\d)", re.IGNORECASE)
#: Words before a duration: "try again in 5 seconds", "retry after 1m30s".
_REQUEST: Final = re.compile(
    r"\b(?:try(?:ing)? again|retry|wait)\b(?:\s+(?:in|after|for|at least|about))*\s+(?=\d)", re.IGNORECASE
)
#: Fields of error bodies, with the seconds that a bare number counts in.
_FIELDS: Final = {
    "retrydelay": 1.0,
    "retry_delay": 1.0,
    "retry_after": 1.0,
    "retryafter": 1.0,
    "retry-after": 1.0,
    "retry_after_seconds": 1.0,
    "retryafterseconds": 1.0,
    "retry_after_ms": 0.001,
    "retryafterms": 0.001,
    "retry-after-ms": 0.001,
}
_MAX_DEPTH: Final = 8
#: A longer wait, in seconds, is a mistake, such as a clock time.
_MAX_WAIT_SECONDS: Final = 40 * 86_400.0


def read_wait(after: float | None, quota: Quota | None, body: object, text: str) -> float | None:
    """Return the seconds that the provider asks to wait, or None.

    Args:
        after: Seconds from `Retry-After` or `retry-after-ms`.
        quota: Limits from its headers. The reset of an exhausted limit is a wait.
        body: The error as the server sent it.
        text: The error's message. It is parsed for a duration only.
    """
    if after is not None:
        return after
    exhausted = (limit.resets_in_ms for limit in quota.limits if limit.remaining == 0) if quota is not None else ()
    reset = max((milliseconds for milliseconds in exhausted if milliseconds is not None), default=None)
    if reset is not None:
        return reset / 1000
    return next(_find_in_fields(body, 0), None) or _find_in_text(text)


def _find_in_fields(value: object, depth: int) -> Iterator[float]:
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, Mapping):
        for name, content in cast("Mapping[Any, Any]", value).items():
            unit = _FIELDS.get(str(name).lower())
            seconds = None if unit is None else _read_seconds(content, unit)
            if seconds is not None:
                yield seconds
            else:
                yield from _find_in_fields(content, depth + 1)
    elif isinstance(value, list):
        for item in cast("list[Any]", value):
            yield from _find_in_fields(item, depth + 1)


def _read_seconds(value: object, unit: float) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return _check_range(value * unit)
    if not isinstance(value, str):
        return None
    text = value.strip()
    if re.fullmatch(r"\d{1,9}(?:\.\d{1,9})?", text):
        return _check_range(float(text) * unit)
    return _parse_duration(text)


def _find_in_text(text: str) -> float | None:
    request = _REQUEST.search(text)
    return None if request is None else _parse_duration(text[request.end() :])


def _parse_duration(text: str) -> float | None:
    """Parse "12s", "1m30.5s" or "5 seconds" at the beginning of a text."""
    at, total = 0, None
    while (piece := _PIECE.match(text, at)) is not None:
        number, unit = (piece[1], piece[2]) if piece[1] is not None else (piece[3], piece[4])
        total = (total or 0.0) + float(number) * _UNIT_SECONDS[unit.lower()]
        at = piece.end()
        while text[at : at + 1] == " ":
            at += 1
    return None if total is None else _check_range(total)


def _check_range(seconds: float) -> float | None:
    return seconds if 0 <= seconds <= _MAX_WAIT_SECONDS else None
