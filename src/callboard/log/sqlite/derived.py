"""Checksums of derived bytes: what is not as it was written is never decoded."""

from __future__ import annotations

import zlib

_BYTES = 4


def protect(data: bytes, *place: str | int | bytes) -> bytes:
    """Return the data behind a checksum of it and of the place that it is written to."""
    return _checksum(data, place) + data


def unprotect(stored: object, *place: str | int | bytes) -> bytes | None:
    """Return the data of protected bytes; None where they, or their place, changed since they were written."""
    if not isinstance(stored, bytes) or len(stored) < _BYTES:
        return None
    data = stored[_BYTES:]
    return data if stored[:_BYTES] == _checksum(data, place) else None


def _checksum(data: bytes, place: tuple[str | int | bytes, ...]) -> bytes:
    return zlib.crc32(data, zlib.crc32(repr(place).encode())).to_bytes(_BYTES, "big")
