"""What pages hold: a random value, valid for one origin, that ends when it was not used for some hours."""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

#: Seconds after its last use in which a credential is valid.
CREDENTIAL_S = 12 * 60 * 60
#: The most valid credentials; past it the one that was not used for longest ends.
MOST_CREDENTIALS = 64
_CREDENTIAL_BYTES = 32


@dataclass
class PageCredential:
    """A valid credential. `proof_key` confirms commands; the page sends it once, when it gets the credential."""

    id: bytes
    origin: str
    proof_key: bytes
    ends: float


class PageCredentials:
    """The valid credentials of pages."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._valid: dict[bytes, PageCredential] = {}

    def issue(self, origin: str, proof_key: bytes) -> str:
        """Issue a credential for pages of this origin."""
        if len(self._valid) >= MOST_CREDENTIALS:
            del self._valid[next(iter(self._valid))]
        value = secrets.token_urlsafe(_CREDENTIAL_BYTES)
        id = _digest(value)
        self._valid[id] = PageCredential(id, origin, proof_key, self._now() + CREDENTIAL_S)
        return value

    def use(self, value: str, origin: str) -> PageCredential | None:
        """Return the credential and extend it. None if it is unknown, expired or of another origin."""
        found = self._valid.pop(_digest(value), None)
        if found is None or found.ends <= self._now():
            return None
        # Put back at the end: the first one is the one that was not used for longest.
        self._valid[found.id] = found
        if found.origin != origin:
            return None
        found.ends = self._now() + CREDENTIAL_S
        return found


def _digest(value: str) -> bytes:
    return hashlib.sha256(value.encode("utf-8", "surrogatepass")).digest()
