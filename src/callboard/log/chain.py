"""The hash chain of a stream, over the bytes that are stored. Pure.

    genesis = SHA-256("callboard.chain.v1" ‖ stream name)
    digest  = SHA-256(salt ‖ payload bytes)
    link    = SHA-256(previous link ‖ header bytes ‖ digest)

Every fact has a `seal` beside its payload: the salt while the payload is there, the digest once it is erased. So the chain
verifies after an erasure, and without the salt the digest does not tell which payload it was.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import NamedTuple

from ..contracts.errors import Refusal

SALT_BYTES = 16
DIGEST_BYTES = 32
_TAG = b"callboard.chain.v1"


class Stored(NamedTuple):
    """One fact as a backend keeps it. `payload` is None once it is erased."""

    sequence: int
    header: bytes
    link: bytes
    seal: bytes
    payload: bytes | None


def genesis(stream: str) -> bytes:
    """The link before the first fact of the stream."""
    return hashlib.sha256(_TAG + stream.encode()).digest()


def digest(salt: bytes, payload: bytes) -> bytes:
    """What the chain knows of a payload."""
    return hashlib.sha256(salt + payload).digest()


def link(previous: bytes, header: bytes, payload_digest: bytes) -> bytes:
    """The link of the fact that follows `previous`."""
    return hashlib.sha256(previous + header + payload_digest).digest()


def erased(stored: Stored) -> Stored:
    """The fact without its payload and salt. The same where it was erased before."""
    if stored.payload is None:
        return stored
    return stored._replace(seal=digest(stored.seal, stored.payload), payload=None)


def check(stream: str, after: int, previous: bytes, facts: Iterable[Stored]) -> tuple[int, bytes]:
    """Checks the facts that follow sequence `after` and its link; returns the last one's sequence and link.

    Raises Refusal `chain_broken` naming the first sequence that does not fit.
    """
    for fact in facts:
        if fact.sequence != after + 1:
            raise _broken(stream, after + 1, "is missing")
        if len(fact.seal) != (DIGEST_BYTES if fact.payload is None else SALT_BYTES):
            raise _broken(stream, fact.sequence, "has no valid seal")
        payload_digest = fact.seal if fact.payload is None else digest(fact.seal, fact.payload)
        if fact.link != link(previous, fact.header, payload_digest):
            raise _broken(stream, fact.sequence, "is not what was appended")
        after, previous = fact.sequence, fact.link
    return after, previous


def check_end(stream: str, head: tuple[int, bytes], found: tuple[int, bytes]) -> None:
    """Checks that the last fact found is the one that the stream's head names. Raises Refusal `chain_broken`."""
    if found[0] < head[0]:
        raise _broken(stream, found[0] + 1, "is missing")
    if found != head:
        raise _broken(stream, head[0], "is not the one that the stream ends with")


def _broken(stream: str, sequence: int, how: str) -> Refusal:
    return Refusal(
        "chain_broken",
        f"The fact {stream}/{sequence} {how}: the log was changed outside Callboard.",
        hint="Keep a copy of the store and restore the stream from a backup; facts before this one are as they were written.",
    )
