"""Secrets: kept outside the log, named by handles everywhere else, and put in place only where something is carried out.

A handle reads `secret://NAME`. A value that is known is replaced by its handle before a fact is built, so what is recorded
still runs; what only looks like a secret is replaced by a handle that holds for this process. `#FORM` behind the name says
in which form the value stood (`secret://NAME#base64-1`), and a `~` ends a handle where what follows could be read as part
of it.
"""

from __future__ import annotations

from typing import Protocol

from ..entities.secret import SecretInfo

HANDLE = "secret://"


class SecretStore(Protocol):
    """Where values are kept. Blocking: not to be called on an event loop."""

    def check(self) -> None:
        """Raises Refusal `secret_store_unavailable` where nothing can be kept."""
        ...

    def names(self) -> tuple[SecretInfo, ...]:
        """What there is, by name. Raises Refusal `secret_store_unavailable`."""
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


class StreamRedaction(Protocol):
    """Redacts one text that comes in pieces: what may be the beginning of a secret is held back until it is known. All that it
    lets out, in order, is what `Secrets.redact` makes of the whole text; but where `lift` let the beginning of a secret out,
    that stands before the secret's handle."""

    def add(self, piece: str) -> str:
        """What may be shown now."""
        ...

    def release_harmless(self) -> str:
        """What can be shown for somebody who looks while nothing more comes: all that is held back, if it is too little to give
        a secret away, and nothing otherwise. It is too little where a known value may begin with it, no whole secret is in it,
        and it has at most 3 characters beside whitespace, quotes and backslashes, together with what was let out in this way
        right before it and may begin the same value. What stands behind the mark of a token, of a password or of a handle is
        held back however little it is. When the rest of the value comes, its handle stands for the whole of it behind what was
        let out; when something else comes, that follows as it is."""
        ...

    def pending(self) -> str:
        """What is held back, redacted as if nothing followed. Changes nothing."""
        ...


class Secrets(Protocol):
    """Redaction and its reverse, and the key store behind them."""

    def redact(self, text: str) -> str:
        """The text with handles in place of secrets: known values, also base64-, URL- and JSON-escaped, and what has the shape
        of a token. The same text comes back where there are none."""
        ...

    def redact_bytes(self, data: bytes) -> bytes:
        """The same of bytes, whatever they are."""
        ...

    def may_have_secret(self, data: bytes) -> bool:
        """Whether there may be a secret in what was encoded as JSON or UTF-8. False is certain."""
        ...

    def redact_stream(self) -> StreamRedaction:
        """Redaction of a text in pieces."""
        ...

    def reveal(self, text: str) -> str:
        """The text with values in place of handles, for a tool to carry out and never to be kept. Raises Refusal
        `secret_missing` for a handle that nothing is known of, or that is the key of a provider."""
        ...

    def find_stored(self, text: str) -> tuple[str, ...]:
        """The names of the secrets that a person keeps, by name, which the handles in a text stand for or have a part of.
        What was only seen is none of them."""
        ...

    def reveal_key(self, text: str) -> str:
        """The same for the provider or server that a setting's handle is for. Raises Refusal `secret_missing`."""
        ...

    def list_stored(self) -> tuple[SecretInfo, ...]:
        """The secrets that are kept, by name."""
        ...

    def store(self, name: str, value: str) -> SecretInfo:
        """Puts a value into the keyring and knows it from now on. Blocking. Raises Refusal `invalid_input` for what would be
        found in ordinary text, `secret_store_unavailable`."""
        ...

    def remove(self, name: str) -> None:
        """Takes a value out of the keyring. What was seen of it goes on being redacted while this process lives. Blocking.
        Raises Refusal `unknown_secret`, `secret_store_unavailable`."""
        ...

    def check_keyring(self) -> str:
        """Why the keyring cannot be used; empty where it can. Blocking."""
        ...
