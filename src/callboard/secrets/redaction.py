"""Redaction: handles instead of values, and the reverse."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from callboard.contracts.entities.secret import SecretInfo
from callboard.contracts.errors import Refusal
from callboard.contracts.ports.secrets import HANDLE, SecretStore, StreamRedaction

from .dumps import has_value
from .forms import FORM
from .matcher import IN_HANDLE, SEEN, Match, Matcher
from .named_secret import NamedSecret, SeenValues, explain_ordinary
from .stream_redactor import StreamRedactor

_NO_STORE = "This process has no secret store."
_NO_STORE_HINT = "Set the variable CALLBOARD_SECRET_NAME instead."
_HANDLE = re.compile(rf"{re.escape(HANDLE)}([A-Za-z0-9][A-Za-z0-9_-]{{0,63}})(?:#({FORM})(?![a-z0-9-]))?~?")
_SEEN = re.compile(SEEN)
_MARKS = re.compile(r"\\[nrt]|[\s\\\"']")
_HINT = "A secret must not occur in ordinary text: use at least 6 characters and not a word."


class Redaction:
    """Implements the port `Secrets`. Values are in memory.

    Args:
        keys: Names of secrets for a provider or server, not for tools.
        store: The persistent store.
    """

    def __init__(
        self, named: Iterable[NamedSecret] = (), keys: Iterable[str] = (), store: SecretStore | None = None
    ) -> None:
        self._store = store
        self._keys = frozenset(keys)
        self._named = {secret.name: secret for secret in named}
        self._seen = SeenValues()
        self._current = self._build_matcher()
        self._current_version = 0

    def redact(self, text: str) -> str:
        """Return the text with handles instead of secrets."""
        while matches := self._matcher.find(text):
            version = self._seen.version
            redacted = self._insert_handles(text, matches, 0, len(text))
            if self._seen.version == version:
                return redacted
            # A new value may occur in another form.
        return text

    def redact_bytes(self, data: bytes) -> bytes:
        """Return bytes of any kind with handles instead of secrets."""
        if not self._matcher.has_secret(data):
            return data
        text = data.decode("utf-8", "surrogateescape")
        redacted = self.redact(text)
        return data if redacted == text else redacted.encode("utf-8", "surrogateescape")

    def can_contain_secret(self, data: bytes) -> bool:
        """Return False if JSON or UTF-8 data certainly has no secret."""
        return self._matcher.has_secret(data)

    def redact_stream(self) -> StreamRedaction:
        """Return a redactor for one text that arrives in pieces."""
        return StreamRedactor(lambda: self._matcher, self._insert_handles)

    def reveal(self, text: str) -> str:
        """Return the text with values instead of handles, for a tool. Raises Refusal `secret_missing`."""
        if HANDLE not in text:
            return text
        return _HANDLE.sub(lambda match: self._reveal(match, keys=False), text)

    def find_stored(self, text: str) -> tuple[str, ...]:
        """Return the names of stored secrets whose handles, or parts of whose values, are in a text."""
        names: set[str] = set()
        stored = [secret for secret in self._named.values() if not secret.is_removed]
        for handle in _HANDLE.finditer(text):
            seen = self._seen.get(handle[1])
            if seen is None:
                names.add(handle[1])
                continue
            # The seen value may contain a stored one over several lines or next to another one.
            bare = _strip(seen.value)
            names |= {
                secret.name for secret in stored if _strip(secret.value) in bare or has_value(seen.value, secret.value)
            }
        return tuple(sorted(names))

    def reveal_key(self, text: str) -> str:
        """Return the text with values, for the provider or server of the setting. Raises Refusal `secret_missing`."""
        if HANDLE not in text:
            return text
        return _HANDLE.sub(lambda match: self._reveal(match, keys=True), text)

    def list_stored(self) -> tuple[SecretInfo, ...]:
        """Return the stored secrets by name."""
        return tuple(
            SecretInfo(name=name, place=secret.place, key=name in self._keys)
            for name, secret in sorted(self._named.items())
            if not secret.is_removed and secret.place != "process"
        )

    def store(self, name: str, value: str) -> SecretInfo:
        """Store a value in the keyring and redact it from now on. Blocks. Raises Refusal."""
        reason = "Callboard reserves names of this form" if _SEEN.fullmatch(name) else explain_ordinary(name, value)
        if reason:
            raise Refusal(
                "invalid_input", f"The value was not stored as a secret: {reason}.", field="value", hint=_HINT
            )
        former = self._named.get(name)
        if former is not None and former.place != "keyring":
            raise Refusal(
                "invalid_input",
                f"{name} is already the name of a secret from the {former.place}.",
                field="name",
                hint="Choose another name.",
            )
        if self._store is None:
            raise Refusal("secret_store_unavailable", _NO_STORE, hint=_NO_STORE_HINT)
        self._store.put(name, value)
        self.learn([NamedSecret(name, value, "keyring")])
        return SecretInfo(name=name, place="keyring", key=name in self._keys)

    def remove(self, name: str) -> None:
        """Remove a value from the keyring. Blocks. Raises Refusal."""
        secret = self._named.get(name)
        if secret is not None and secret.place != "keyring":
            raise Refusal(
                "unknown_secret",
                f"{name} is not in the keyring: it comes from the {secret.place}.",
                field="name",
                hint="Remove it there.",
            )
        if self._store is None or not self._store.remove(name):
            raise Refusal(
                "unknown_secret",
                f"There is no secret {name} in the keyring.",
                field="name",
                hint="Use list_secrets to list the names.",
            )
        if secret is not None:
            self.learn([NamedSecret(name, secret.value, secret.place, is_removed=True)])

    def check_keyring(self) -> str:
        """Return why the keyring is unavailable; empty if it is available. Blocks."""
        if self._store is None:
            return _NO_STORE
        try:
            self._store.check()
        except Refusal as refusal:
            return refusal.text
        return ""

    def learn(self, secrets: Iterable[NamedSecret], keys: Iterable[str] = ()) -> None:
        """Redact these values from now on, and record which are keys. Replaced values stay redacted."""
        self._keys |= frozenset(keys)
        for secret in secrets:
            former = self._named.get(secret.name)
            if former is not None and former.value != secret.value:
                name = f"{secret.name}-former-{len(self._named)}"
                self._named[name] = replace(former, name=name, is_removed=True)
            self._named[secret.name] = secret
        self._current = self._build_matcher()

    @property
    def _matcher(self) -> Matcher:
        """The matcher for all current values."""
        if self._current_version != self._seen.version:
            self._current = self._build_matcher()
        return self._current

    def _build_matcher(self) -> Matcher:
        self._current_version = self._seen.version
        handles: dict[str, str] = {}
        named = sorted(self._named.values(), key=lambda secret: secret.is_removed)
        for secret in (*named, *self._seen.list_newest()):
            for text, form in secret.forms.items():
                handles.setdefault(text, f"{HANDLE}{secret.name}{form and f'#{form}'}")
        return Matcher(handles, frozenset(self._named))

    def _insert_handles(self, text: str, matches: list[Match], at: int, until: int) -> str:
        """Return a part of the text with handles instead of matches. A match that begins earlier has its whole handle."""
        pieces: list[str] = []
        for match in matches:
            if match.handle is None:
                continue
            handle = match.handle or HANDLE + self._seen.assign_name(text[match.start : match.end])
            piece = text[at : match.start] + handle
            pieces += ["~" if pieces and piece[0] in IN_HANDLE else "", piece]
            at = match.end
        rest = text[at:until]
        return "".join([*pieces, "~" if pieces and rest[:1] in IN_HANDLE else "", rest])

    def _reveal(self, match: re.Match[str], *, keys: bool) -> str:
        name, form = match[1], match[2] or ""
        if _SEEN.fullmatch(name):
            seen = self._seen.get(name)
            value = seen.find_form(form) if seen is not None else None
            if value is None:
                raise Refusal(
                    "secret_missing",
                    f"The value of {HANDLE}{name} is lost: it looked like a secret to a process that has ended.",
                    hint="Send the value again, or store it with `callboard secrets set NAME` and use its handle.",
                )
            if not keys and self._has_key(value):
                raise _build_provider_key_refusal(name)
            return value
        secret = self._named.get(name)
        text = secret.find_form(form) if secret is not None and not secret.is_removed else None
        if secret is None or text is None:
            raise Refusal(
                "secret_missing",
                f"There is no secret {name} for {HANDLE}{name}.",
                hint=f"Store it with `callboard secrets set {name}`, or set the variable CALLBOARD_SECRET_{name}.",
            )
        if name in self._keys and not keys:
            raise _build_provider_key_refusal(name)
        return text

    def _has_key(self, text: str) -> bool:
        keys = [self._named[name] for name in self._keys if name in self._named]
        return any(has_value(text, key.value) or any(form in text for form in key.forms) for key in keys)


def _strip(value: str) -> str:
    """Return a value without line breaks and escape characters."""
    return _MARKS.sub("", value)


def _build_provider_key_refusal(name: str) -> Refusal:
    return Refusal(
        "secret_missing",
        f"{HANDLE}{name} is a provider's key. Callboard sends it to that provider only, never to a tool.",
        hint="Store a secret for tools under another name.",
    )
