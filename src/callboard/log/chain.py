"""A stream's chain (`contracts.chain`) where it is kept: erasing from it, and checking it. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from ..contracts.chain import DIGEST_BYTES, SALT_BYTES, StoredBytes, digest, genesis, link
from ..contracts.errors import Refusal

__all__ = [
    "DIGEST_BYTES",
    "SALT_BYTES",
    "StoredBytes",
    "broken",
    "check",
    "check_end",
    "digest",
    "erased",
    "genesis",
    "link",
]


def erased(stored: StoredBytes) -> StoredBytes:
    """The fact without its payload and salt. The same where it was erased before."""
    if stored.payload is None:
        return stored
    return stored._replace(seal=digest(stored.seal, stored.payload), payload=None)


def check(stream: str, after: int, previous: bytes, facts: Iterable[StoredBytes]) -> tuple[int, bytes]:
    """Checks the facts that follow sequence `after` and its link; returns the last one's sequence and link.

    Raises Refusal `chain_broken` naming the first sequence that does not fit.
    """
    for fact in facts:
        if fact.sequence != after + 1:
            raise broken(stream, after + 1, "is missing")
        if len(fact.seal) != (DIGEST_BYTES if fact.payload is None else SALT_BYTES):
            raise broken(stream, fact.sequence, "has no valid seal")
        payload_digest = fact.seal if fact.payload is None else digest(fact.seal, fact.payload)
        if fact.link != link(previous, fact.header, payload_digest):
            raise broken(stream, fact.sequence, "is not what was appended")
        after, previous = fact.sequence, fact.link
    return after, previous


def check_end(stream: str, head: tuple[int, bytes], found: tuple[int, bytes]) -> None:
    """Checks that the last fact found is the one that the stream's head names. Raises Refusal `chain_broken`."""
    if found[0] < head[0]:
        raise broken(stream, found[0] + 1, "is missing")
    if found != head:
        raise broken(stream, head[0], "is not the one that the stream ends with")


def broken(stream: str, sequence: int, how: str) -> Refusal:
    """Return the refusal of a fact that is not what was appended."""
    return Refusal(
        "chain_broken",
        f"The fact {stream}/{sequence} {how}: the log was changed outside Callboard.",
        hint="Facts before this one are as they were written. `callboard check` lists all that is damaged; "
        "`callboard restore FILE --replace` puts a backup in place and keeps the present store.",
    )
