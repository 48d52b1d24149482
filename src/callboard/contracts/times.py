"""Timestamps on the wire."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def format_timestamp(at: int) -> str:
    """Return microseconds since the epoch as RFC 3339 in UTC, always with six decimals."""
    return (_EPOCH + timedelta(microseconds=at)).isoformat(timespec="microseconds").replace("+00:00", "Z")
