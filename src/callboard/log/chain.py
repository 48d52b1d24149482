"""Erasure and verification of a stream's stored hash chain (`contracts.chain`). Pure."""

from __future__ import annotations

from collections.abc import Iterable

from ..contracts.chain import DIGEST_BYTES, SALT_BYTES, StoredBytes, begin_chain, digest, link
from ..contracts.errors import Refusal

__all__ = [
    "DIGEST_BYTES",
    "SALT_BYTES",
    "StoredBytes",
    "begin_chain",
    "build_broken_refusal",
    "check",
    "check_end",
    "digest",
    "erase",
    "link",
]


def erase(stored: StoredBytes) -> StoredBytes:
    """Return the fact without payload and salt. An erased fact is returned unchanged."""
    if stored.payload is None:
        return stored
    return stored._replace(seal=digest(stored.seal, stored.payload), payload=None)


def check(stream: str, after: int, previous: bytes, facts: Iterable[StoredBytes]) -> tuple[int, bytes]:
    """Verify the facts after sequence `after`, and return the sequence and link of the last one.

    Args:
        previous: The link of the fact `after`.
    Raises:
        Refusal: `chain_broken` with the first invalid sequence.
    """
    for fact in facts:
        if fact.sequence != after + 1:
            raise build_broken_refusal(stream, after + 1, "is missing")
        if len(fact.seal) != (DIGEST_BYTES if fact.payload is None else SALT_BYTES):
            raise build_broken_refusal(stream, fact.sequence, "has no valid seal")
        payload_digest = fact.seal if fact.payload is None else digest(fact.seal, fact.payload)
        if fact.link != link(previous, fact.header, payload_digest):
            raise build_broken_refusal(stream, fact.sequence, "differs from the appended one")
        after, previous = fact.sequence, fact.link
    return after, previous


def check_end(stream: str, head: tuple[int, bytes], last: tuple[int, bytes]) -> None:
    """Verify that the last fact is the one in the stream's head. Raises Refusal `chain_broken`.

    Args:
        head: Sequence and link in the head.
        last: Sequence and link of the last fact.
    """
    if last[0] < head[0]:
        raise build_broken_refusal(stream, last[0] + 1, "is missing")
    if last != head:
        raise build_broken_refusal(stream, head[0], "is not the last fact in the stream's head")


def build_broken_refusal(stream: str, sequence: int, defect: str) -> Refusal:
    """Return the refusal of a damaged fact."""
    return Refusal(
        "chain_broken",
        f"The fact {stream}/{sequence} {defect}: the log was changed outside Callboard.",
        hint="Earlier facts are intact. `callboard check` lists all damage; "
        "`callboard restore FILE --replace` restores a backup and keeps the current store.",
    )
