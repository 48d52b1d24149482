"""How long a provider asks to wait: from its headers, from fields of its error, and last from the error's text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from callboard.contracts.ports.model import Quota

_UNITS_S: Final = {
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
_UNIT: Final = "|".join(sorted(_UNITS_S, key=len, reverse=True))
_NUMBER: Final = r"(\d{1,9}(?:\.\d{1,9})?)"
_PIECE: Final = re.compile(rf"{_NUMBER}\s*({_UNIT})\b|{_NUMBER}({_UNIT})(?=\d)", re.IGNORECASE)
#: A length follows one of these: "try again in 5 seconds", "retry after 1m30s".
_ASKS: Final = re.compile(
    r"\b(?:try(?:ing)? again|retry|wait)\b(?:\s+(?:in|after|for|at least|about))*\s+(?=\d)", re.IGNORECASE
)
#: Fields of error bodies, with what a bare number in them counts in seconds.
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
_DEEPEST: Final = 8
#: A named wait above this many seconds is a mistake, such as a time of a clock.
_LONGEST_S: Final = 40 * 86_400.0


def named_wait(after: float | None, quota: Quota | None, body: object, text: str) -> float | None:
    """Return the seconds that the provider asks to wait; None where it names none.

    Args:
        after: What `Retry-After` or `retry-after-ms` says, in seconds.
        quota: The limits that its headers name. One that is used up says when it begins anew.
        body: The error as the server sent it.
        text: The error's message. It is read for the length of a wait and for nothing else.
    """
    if after is not None:
        return after
    used_up = (one.resets_in_ms for one in quota.limits if one.remaining == 0) if quota is not None else ()
    resets = max((one for one in used_up if one is not None), default=None)
    if resets is not None:
        return resets / 1000
    return next(_in_fields(body, 0), None) or _in_text(text)


def _in_fields(value: object, depth: int) -> Iterator[float]:
    if depth > _DEEPEST:
        return
    if isinstance(value, Mapping):
        for name, held in cast("Mapping[Any, Any]", value).items():
            unit = _FIELDS.get(str(name).lower())
            found = None if unit is None else _length(held, unit)
            if found is not None:
                yield found
            else:
                yield from _in_fields(held, depth + 1)
    elif isinstance(value, list):
        for one in cast("list[Any]", value):
            yield from _in_fields(one, depth + 1)


def _length(value: object, unit: float) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return _bounded(value * unit)
    if not isinstance(value, str):
        return None
    text = value.strip()
    if re.fullmatch(r"\d{1,9}(?:\.\d{1,9})?", text):
        return _bounded(float(text) * unit)
    return _duration(text)


def _in_text(text: str) -> float | None:
    asks = _ASKS.search(text)
    return None if asks is None else _duration(text[asks.end() :])


def _duration(text: str) -> float | None:
    """Read "12s", "1m30.5s", "5 seconds" at the beginning of a text."""
    at, total = 0, None
    while (piece := _PIECE.match(text, at)) is not None:
        number, unit = (piece[1], piece[2]) if piece[1] is not None else (piece[3], piece[4])
        total = (total or 0.0) + float(number) * _UNITS_S[unit.lower()]
        at = piece.end()
        while text[at : at + 1] == " ":
            at += 1
    return None if total is None else _bounded(total)


def _bounded(seconds: float) -> float | None:
    return seconds if 0 <= seconds <= _LONGEST_S else None
