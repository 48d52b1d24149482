"""Single-use confirmations: for one command with one body, the page proves that it has the key of its credential."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

from .credentials import PageCredential

#: Lifetime of a challenge, in seconds.
CHALLENGE_SECONDS = 60
#: The most open challenges; one more ends the oldest.
MAX_CHALLENGES = 256
_CHALLENGE_BYTES = 24


@dataclass
class _Challenge:
    credential: bytes
    command: str
    body_sha256: str
    ends: float


class Confirmations:
    """The open challenges."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._open: dict[str, _Challenge] = {}

    def challenge(self, credential: PageCredential, command: str, body_sha256: str) -> str:
        """Return a challenge for one command whose JSON body has this SHA-256, in lower-case hex."""
        if len(self._open) >= MAX_CHALLENGES:
            del self._open[next(iter(self._open))]
        value = secrets.token_urlsafe(_CHALLENGE_BYTES)
        self._open[value] = _Challenge(credential.id, command, body_sha256, self._now() + CHALLENGE_SECONDS)
        return value

    def redeem(self, credential: PageCredential, command: str, body: bytes, confirmation: str) -> bool:
        """Use a challenge up, and return whether `challenge.proof` confirms exactly this command and body."""
        value, _, proof = confirmation.partition(".")
        challenge = self._open.pop(value, None)
        if challenge is None:
            return False
        body_sha256 = hashlib.sha256(body).hexdigest()
        expected = _Challenge(credential.id, command, body_sha256, challenge.ends)
        expected_proof = compute_proof(credential.proof_key, value, command, body_sha256)
        is_proved = hmac.compare_digest(proof.encode("utf-8", "surrogatepass"), expected_proof.encode())
        return is_proved and challenge == expected and self._now() < challenge.ends


def compute_proof(proof_key: bytes, challenge: str, command: str, body_sha256: str) -> str:
    """Return the proof: HMAC-SHA-256, in lower-case hex, of the lines challenge, command and digest."""
    return hmac.new(proof_key, f"{challenge}\n{command}\n{body_sha256}".encode(), hashlib.sha256).hexdigest()
