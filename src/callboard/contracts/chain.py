"""The hash chain of a stream, over the bytes that are stored. Pure.

    genesis = SHA-256("callboard.chain.v1" ‖ stream name)
    digest  = SHA-256(salt ‖ payload bytes)
    link    = SHA-256(previous link ‖ header bytes ‖ digest)

Every fact has a `seal` beside its payload: the salt while the payload is there, the digest once it is erased. So the chain
verifies after an erasure, and without the salt the digest does not tell which payload it was.
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple

SALT_BYTES = 16
DIGEST_BYTES = 32
TAG = b"callboard.chain.v1"


class StoredBytes(NamedTuple):
    """One fact as a backend keeps it. `payload` is None once it is erased."""

    sequence: int
    header: bytes
    link: bytes
    seal: bytes
    payload: bytes | None


def genesis(stream: str) -> bytes:
    """The link before the first fact of the stream."""
    return hashlib.sha256(TAG + stream.encode()).digest()


def digest(salt: bytes, payload: bytes) -> bytes:
    """What the chain knows of a payload."""
    return hashlib.sha256(salt + payload).digest()


def link(previous: bytes, header: bytes, payload_digest: bytes) -> bytes:
    """The link of the fact that follows `previous`."""
    return hashlib.sha256(previous + header + payload_digest).digest()
