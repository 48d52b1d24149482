"""Ports of secrets and of redaction.

A handle reads `secret://NAME`. Redaction replaces a stored value by its handle before a fact is
built, so a recorded call can run again. A value that only looks like a secret gets a handle that is
valid in this process. `#FORM` names the encoding (`secret://NAME#base64-1`). `~` ends a handle
where the next character could be read as part of it.
"""

from __future__ import annotations

from typing import Protocol

from ..entities.secret import SecretInfo

HANDLE = "secret://"


class SecretStore(Protocol):
    """Store of secret values. Its methods block: do not call them on an event loop."""

    def check(self) -> None:
        """Check that the store can keep values.

        Raises:
            Refusal: `secret_store_unavailable`.
        """
        ...

    def list_stored(self) -> tuple[SecretInfo, ...]:
        """Return the stored secrets by name.

        Raises:
            Refusal: `secret_store_unavailable`.
        """
        ...

    def get(self, name: str) -> str | None:
        """Return the value; None if there is none.

        Raises:
            Refusal: `secret_store_unavailable`.
        """
        ...

    def put(self, name: str, value: str) -> None:
        """Store a value under a name.

        Raises:
            Refusal: `secret_store_unavailable`.
        """
        ...

    def remove(self, name: str) -> bool:
        """Remove a value. Return False if there was none.

        Raises:
            Refusal: `secret_store_unavailable`.
        """
        ...


class StreamRedaction(Protocol):
    """Redaction of one text that arrives in pieces.

    It withholds a possible beginning of a secret until more text decides. The returned pieces, in
    order, equal `Secrets.redact` of the whole text. Exception: a beginning that `release_harmless`
    returned stays in front of the secret's handle.
    """

    def add(self, piece: str) -> str:
        """Add a piece and return the text that is safe to show now."""
        ...

    def release_harmless(self) -> str:
        """Return the withheld text if it is too short to reveal a secret, else an empty string.

        Call it for a reader while no more text arrives. The withheld text is harmless if:

        - a stored value may begin with it;
        - it contains no whole secret;
        - it has at most 3 characters without whitespace, quotes and backslashes, counting text that
          was released before it for the same possible value.

        Text after the mark of a token, password or handle is never released. If the rest of the
        value arrives, its whole handle follows the released text. Other text follows unchanged.
        """
        ...

    def read_withheld(self) -> str:
        """Return the withheld text, redacted as if the text ended here. Change nothing."""
        ...


class Secrets(Protocol):
    """Redaction, its reverse, and the store of secrets."""

    def redact(self, text: str) -> str:
        """Return the text with handles instead of secrets.

        Finds stored values, also base64-, URL- and JSON-encoded, and values with the shape of a
        token.
        """
        ...

    def redact_bytes(self, data: bytes) -> bytes:
        """Return bytes of any kind with handles instead of secrets."""
        ...

    def can_contain_secret(self, data: bytes) -> bool:
        """Return False if JSON or UTF-8 data certainly has no secret."""
        ...

    def redact_stream(self) -> StreamRedaction:
        """Return a redactor for one text that arrives in pieces."""
        ...

    def reveal(self, text: str) -> str:
        """Return the text with values instead of handles, for a tool to run.

        Never store the result.

        Raises:
            Refusal: `secret_missing` for an unknown handle or the key of a provider.
        """
        ...

    def find_stored(self, text: str) -> tuple[str, ...]:
        """Return the names of stored secrets whose handles, or parts of whose values, are in a text.

        Sorted.

        Values that were only seen are left out.
        """
        ...

    def reveal_key(self, text: str) -> str:
        """Return a setting's text with values instead of handles, for the provider or server that it belongs to.

        Raises:
            Refusal: `secret_missing`.
        """
        ...

    def list_stored(self) -> tuple[SecretInfo, ...]:
        """Return the stored secrets by name."""
        ...

    def store(self, name: str, value: str) -> SecretInfo:
        """Store a value in the keyring and redact it from now on. Blocks.

        Raises:
            Refusal: `invalid_input` for a value that occurs in ordinary text, or
                `secret_store_unavailable`.
        """
        ...

    def remove(self, name: str) -> None:
        """Remove a value from the keyring. Redact it until this process ends. Blocks.

        Raises:
            Refusal: `unknown_secret` or `secret_store_unavailable`.
        """
        ...

    def check_keyring(self) -> str:
        """Return why the keyring is unavailable; empty if it is available. Blocks."""
        ...
