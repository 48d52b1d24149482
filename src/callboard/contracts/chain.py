"""The hash chain of a stream over its stored bytes.

    genesis = SHA-256("callboard.chain.v1" ‖ stream name)
    digest  = SHA-256(salt ‖ payload bytes)
    link    = SHA-256(previous link ‖ header bytes ‖ digest)

A fact is stored with a `seal`: the salt of its payload, or the digest once the payload is erased.
So the chain verifies after an erasure, and without the salt the digest does not reveal the payload.
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple

SALT_BYTES = 16
DIGEST_BYTES = 32
TAG = b"callboard.chain.v1"


class StoredBytes(NamedTuple):
    """The stored bytes of one fact. `payload` is None once it is erased."""

    sequence: int
    header: bytes
    link: bytes
    seal: bytes
    payload: bytes | None


def begin_chain(stream: str) -> bytes:
    """Return the link before the first fact of the stream."""
    return hashlib.sha256(TAG + stream.encode()).digest()


def digest(salt: bytes, payload: bytes) -> bytes:
    """Return the digest of a payload in the chain."""
    return hashlib.sha256(salt + payload).digest()


def link(previous: bytes, header: bytes, payload_digest: bytes) -> bytes:
    """Return the link of the fact after `previous`."""
    return hashlib.sha256(previous + header + payload_digest).digest()
