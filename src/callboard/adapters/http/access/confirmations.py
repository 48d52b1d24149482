"""Single-use confirmations: the page proves, for one command with one body, that it has the key of its credential."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

from .credentials import PageCredential

#: Seconds in which a challenge can be answered, once.
CHALLENGE_S = 60
#: The most challenges that wait for their answer; past it the oldest one ends.
MOST_CHALLENGES = 256
_CHALLENGE_BYTES = 24


@dataclass
class _Challenge:
    credential: bytes
    command: str
    body_sha256: str
    ends: float


class Confirmations:
    """The challenges that wait for their answer."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._open: dict[str, _Challenge] = {}

    def challenge(self, credential: PageCredential, command: str, body_sha256: str) -> str:
        """Return a challenge for one command whose JSON body has this SHA-256, in lower-case hex."""
        if len(self._open) >= MOST_CHALLENGES:
            del self._open[next(iter(self._open))]
        value = secrets.token_urlsafe(_CHALLENGE_BYTES)
        self._open[value] = _Challenge(credential.id, command, body_sha256, self._now() + CHALLENGE_S)
        return value

    def accepts(self, credential: PageCredential, command: str, body: bytes, confirmation: str) -> bool:
        """Use a challenge up, and return whether `challenge.proof` confirms exactly this command and body."""
        value, _, proof = confirmation.partition(".")
        found = self._open.pop(value, None)
        if found is None:
            return False
        body_sha256 = hashlib.sha256(body).hexdigest()
        wanted = _Challenge(credential.id, command, body_sha256, found.ends)
        right = proof_of(credential.proof_key, value, command, body_sha256)
        fits = hmac.compare_digest(proof.encode("utf-8", "surrogatepass"), right.encode())
        return fits and found == wanted and self._now() < found.ends


def proof_of(proof_key: bytes, challenge: str, command: str, body_sha256: str) -> str:
    """Return the proof: HMAC-SHA-256 in lower-case hex over challenge, command and digest, one a line."""
    return hmac.new(proof_key, f"{challenge}\n{command}\n{body_sha256}".encode(), hashlib.sha256).hexdigest()
