"""Redaction: handles instead of values, and the reverse."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from callboard.contracts.entities.secret import SecretInfo
from callboard.contracts.errors import Refusal
from callboard.contracts.ports.secrets import HANDLE, SecretStore, StreamRedaction

from .dumps import shows
from .forms import FORM
from .matcher import IN_HANDLE, SEEN, Match, Matcher
from .named_secret import NamedSecret, SeenValues
from .ordinary_text import explain_ordinary
from .stream_redactor import StreamRedactor

_HANDLE = re.compile(rf"{re.escape(HANDLE)}([A-Za-z0-9][A-Za-z0-9_-]{{0,63}})(?:#({FORM})(?![a-z0-9-]))?~?")
_SEEN = re.compile(SEEN)
_MARKS = re.compile(r"\\[nrt]|[\s\\\"']")
_HINT = "A secret has at least 6 characters and is no word, so that it is found nowhere else."


class Redaction:
    """Implements the port `Secrets`. Values are in memory.

    Args:
        store: Where values persist.
        keys: Names of secrets that belong to a provider or server alone.
    """

    def __init__(
        self, known: Iterable[NamedSecret] = (), keys: Iterable[str] = (), store: SecretStore | None = None
    ) -> None:
        self._store = store
        self._keys = frozenset(keys)
        self._known = {one.name: one for one in known}
        self._seen = SeenValues()
        self._made = self._match()
        self._made_of = 0

    def redact(self, text: str) -> str:
        """Return the text with handles instead of secrets."""
        while found := self._matcher.find(text):
            known = self._seen.version
            redacted = self._put(text, found, 0, len(text))
            if self._seen.version == known:
                return redacted
            # A value that was seen just now may occur in another form.
        return text

    def redact_bytes(self, data: bytes) -> bytes:
        """Return bytes of any kind with handles instead of secrets."""
        text = data.decode("utf-8", "surrogateescape")
        redacted = self.redact(text)
        return data if redacted == text else redacted.encode("utf-8", "surrogateescape")

    def may_have_secret(self, data: bytes) -> bool:
        """Return False if JSON or UTF-8 data certainly has no secret."""
        found = self._matcher.find(data.decode("utf-8", "surrogateescape"))
        return any(one.handle is not None for one in found)

    def redact_stream(self) -> StreamRedaction:
        """Return a redactor for one text that arrives in pieces."""
        return StreamRedactor(lambda: self._matcher, self._put)

    def reveal(self, text: str) -> str:
        """Return the text with values instead of handles, for a tool. Raises Refusal `secret_missing`."""
        if HANDLE not in text:
            return text
        return _HANDLE.sub(lambda found: self._value(found, keys=False), text)

    def find_stored(self, text: str) -> tuple[str, ...]:
        """Return the names of stored secrets whose handles, or parts of whose values, are in a text."""
        found: set[str] = set()
        for handle in _HANDLE.finditer(text):
            seen = self._seen.get(handle[1])
            if seen is None:
                found.add(handle[1])
                continue
            # A value over several lines, or next to another one, was seen but not recognised.
            bare = _bare(seen.value)
            kept = (one for one in self._known.values() if not one.is_removed)
            found |= {one.name for one in kept if _bare(one.value) in bare or shows(seen.value, one.value)}
        return tuple(sorted(found))

    def reveal_key(self, text: str) -> str:
        """Return the text with values, for the provider or server of the setting. Raises Refusal
        `secret_missing`.
        """
        if HANDLE not in text:
            return text
        return _HANDLE.sub(lambda found: self._value(found, keys=True), text)

    def list_stored(self) -> tuple[SecretInfo, ...]:
        """Return the stored secrets by name."""
        named = (one for one in self._known.values() if not one.is_removed and one.place != "process")
        kept = sorted(named, key=lambda one: one.name)
        return tuple(SecretInfo(name=one.name, place=one.place, key=one.name in self._keys) for one in kept)

    def store(self, name: str, value: str) -> SecretInfo:
        """Store a value in the keyring and redact it from now on. Blocks. Raises Refusal."""
        why = "names of that kind are given by Callboard" if _SEEN.fullmatch(name) else explain_ordinary(name, value)
        if why:
            raise Refusal("invalid_input", f"The value is not kept as a secret: {why}.", field="value", hint=_HINT)
        before = self._known.get(name)
        if before is not None and before.place != "keyring":
            raise Refusal(
                "invalid_input",
                f"{name} is the name of a secret that the {before.place} holds.",
                field="name",
                hint="Choose another name.",
            )
        if self._store is None:
            raise Refusal("secret_store_unavailable", "There is no key store here.")
        self._store.put(name, value)
        self.learn([NamedSecret(name, value, "keyring")])
        return SecretInfo(name=name, place="keyring", key=name in self._keys)

    def remove(self, name: str) -> None:
        """Remove a value from the keyring. Blocks. Raises Refusal."""
        found = self._known.get(name)
        if found is not None and found.place != "keyring":
            raise Refusal(
                "unknown_secret",
                f"{name} is not in the keyring: the {found.place} holds it.",
                field="name",
                hint="Take it out there.",
            )
        if self._store is None or not self._store.remove(name):
            raise Refusal(
                "unknown_secret",
                f"There is no secret {name} in the keyring.",
                field="name",
                hint="list_secrets names them.",
            )
        if found is not None:
            self.learn([NamedSecret(name, found.value, found.place, is_removed=True)])

    def check_keyring(self) -> str:
        """Return why the keyring is unavailable; empty if it is available. Blocks."""
        if self._store is None:
            return "There is no key store here."
        try:
            self._store.check()
        except Refusal as refusal:
            return f"{refusal.problem.message} {refusal.problem.hint}".rstrip()
        return ""

    def learn(self, known: Iterable[NamedSecret], keys: Iterable[str] = ()) -> None:
        """Redact these values from now on, and record which are keys. Replaced values stay redacted."""
        self._keys |= frozenset(keys)
        for one in known:
            former = self._known.get(one.name)
            if former is not None and former.value != one.value:
                name = f"{one.name}-former-{len(self._known)}"
                self._known[name] = replace(former, name=name, is_removed=True)
            self._known[one.name] = one
        self._made = self._match()

    @property
    def _matcher(self) -> Matcher:
        """The matcher for every current value."""
        if self._made_of != self._seen.version:
            self._made = self._match()
        return self._made

    def _match(self) -> Matcher:
        self._made_of = self._seen.version
        handles: dict[str, str] = {}
        named = sorted(self._known.values(), key=lambda one: one.is_removed)
        for one in (*named, *self._seen.list_newest()):
            for text, form in one.forms.items():
                handles.setdefault(text, f"{HANDLE}{one.name}{form and f'#{form}'}")
        return Matcher(handles, frozenset(one.name for one in self._known.values()))

    def _put(self, text: str, matches: list[Match], at: int, until: int) -> str:
        """Return a part of the text with handles instead of matches. A match that begins before it
        has its whole handle.
        """
        pieces: list[str] = []
        for one in matches:
            if one.handle is None:
                continue
            handle = one.handle or HANDLE + self._seen.name(text[one.start : one.end])
            shown = text[at : one.start] + handle
            pieces += ["~" if pieces and shown[0] in IN_HANDLE else "", shown]
            at = one.end
        rest = text[at:until]
        return "".join([*pieces, "~" if pieces and rest[:1] in IN_HANDLE else "", rest])

    def _value(self, found: re.Match[str], *, keys: bool) -> str:
        name, form = found[1], found[2] or ""
        if _SEEN.fullmatch(name):
            seen = self._seen.get(name)
            value = seen.text(form) if seen is not None else None
            if value is None:
                raise Refusal(
                    "secret_missing",
                    f"{HANDLE}{name} stands for what looked like a secret to a process that has ended: nobody has it now.",
                    hint="Give it again, or keep it with `callboard secrets set NAME` and use its handle.",
                )
            if not keys and self._has_key(value):
                raise _not_for_tools(name)
            return value
        known = self._known.get(name)
        text = known.text(form) if known is not None and not known.is_removed else None
        if known is None or text is None:
            raise Refusal(
                "secret_missing",
                f"There is no secret {name}, which {HANDLE}{name} stands for.",
                hint=f"Keep it with `callboard secrets set {name}`, or in the variable CALLBOARD_SECRET_{name}.",
            )
        if name in self._keys and not keys:
            raise _not_for_tools(name)
        return text

    def _has_key(self, text: str) -> bool:
        known = [self._known[name] for name in self._keys if name in self._known]
        return any(shows(text, key.value) or any(form in text for form in key.forms) for key in known)


def _bare(value: str) -> str:
    """Return a value without line breaks and escape characters."""
    return _MARKS.sub("", value)


def _not_for_tools(name: str) -> Refusal:
    return Refusal(
        "secret_missing",
        f"{HANDLE}{name} is the key of a provider, which is given to that provider alone and to no tool.",
        hint="Keep what tools may use under a name of its own.",
    )
