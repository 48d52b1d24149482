"""Credentials of pages: random values, each for one origin, that expire after hours without use."""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

#: Lifetime of a credential after its last use, in seconds.
CREDENTIAL_SECONDS = 12 * 60 * 60
#: The most valid credentials; one more ends the least recently used.
MAX_CREDENTIALS = 64
_CREDENTIAL_BYTES = 32


@dataclass
class PageCredential:
    """A valid credential. `proof_key` confirms commands; the page sends it once, with its code."""

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
        if len(self._valid) >= MAX_CREDENTIALS:
            del self._valid[next(iter(self._valid))]
        value = secrets.token_urlsafe(_CREDENTIAL_BYTES)
        id = _digest(value)
        self._valid[id] = PageCredential(id, origin, proof_key, self._now() + CREDENTIAL_SECONDS)
        return value

    def use(self, value: str, origin: str) -> PageCredential | None:
        """Return the credential and extend it. None if it is unknown, expired or of another origin."""
        credential = self._valid.pop(_digest(value), None)
        if credential is None or credential.ends <= self._now():
            return None
        # Insert it again at the end: the first entry is the least recently used.
        self._valid[credential.id] = credential
        if credential.origin != origin:
            return None
        credential.ends = self._now() + CREDENTIAL_SECONDS
        return credential


def _digest(value: str) -> bytes:
    return hashlib.sha256(value.encode("utf-8", "surrogatepass")).digest()
