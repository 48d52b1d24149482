"""Secrets: kept outside the log, named by handles everywhere else, and put in place only where something is carried out.

A handle reads `secret://NAME`. A value that is known is replaced by its handle before a fact is built, so what is recorded
still runs; what only looks like a secret is replaced by a handle that holds for this process.
"""

from __future__ import annotations

from typing import Protocol

import msgspec

HANDLE = "secret://"


class SecretInfo(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A secret without its value. `place` says where it is kept: the system's keyring, the environment, or this process."""

    name: str
    place: str


class SecretStore(Protocol):
    """Where values are kept. Blocking: not to be called on an event loop."""

    def names(self) -> tuple[SecretInfo, ...]:
        """What there is, by name."""
        ...

    def get(self, name: str) -> str | None:
        """The value, or None where there is none. Raises Refusal `secret_store_unavailable`."""
        ...

    def put(self, name: str, value: str) -> None:
        """Keeps a value under a name. Raises Refusal `secret_store_unavailable`."""
        ...

    def remove(self, name: str) -> bool:
        """Forgets a value; False where there was none. Raises Refusal `secret_store_unavailable`."""
        ...


class Veil(Protocol):
    """Redacts one text that comes in pieces: what may be the beginning of a secret is held back until it is known."""

    def add(self, piece: str) -> str:
        """What may be shown now."""
        ...

    def end(self) -> str:
        """What was held back, redacted."""
        ...


class Secrets(Protocol):
    """Redaction and its reverse."""

    def redact(self, text: str) -> str:
        """The text with handles in place of secrets: known values, also base64-, URL- and JSON-escaped, and what has the shape
        of a token. The same text comes back where there are none."""
        ...

    def redact_bytes(self, data: bytes) -> bytes:
        """The same of bytes, whatever they are."""
        ...

    def veil(self) -> Veil:
        """Redaction of a text in pieces."""
        ...

    def reveal(self, text: str) -> str:
        """The text with values in place of handles, to be carried out and never to be kept. Raises Refusal `secret_missing`
        for a handle that nothing is known of."""
        ...
