"""Values under names: stored secrets, and values that only look like secrets."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections import OrderedDict
from dataclasses import dataclass, field

from callboard.contracts.entities.secret import SecretPlace
from callboard.contracts.ports.secrets import HANDLE

from .forms import MIN_VALUE_CHARS, encode_forms

#: Maximum number of seen values that this process can restore, and of the ones that it also searches by value alone.
_MAX_SEEN = 4096
_MAX_SEARCHED = 200
#: Up to this length, letters of one case are taken for a word, and digits for a number.
_MAX_WORD_CHARS = 16
_MAX_NUMBER_CHARS = 8


@dataclass(frozen=True)
class NamedSecret:
    """A value under a name. A removed one is redacted but never revealed."""

    name: str
    value: str
    place: SecretPlace
    is_removed: bool = False
    forms: dict[str, str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "forms", encode_forms(self.value))

    def __repr__(self) -> str:
        return f"NamedSecret({self.name!r})"

    def find_form(self, form: str) -> str | None:
        """Return the value in a form."""
        return next((text for text, name in self.forms.items() if name == form), None)


class SeenValues:
    """Values that look like secrets, under names valid in this process. `version` increases with each new value."""

    def __init__(self) -> None:
        self._salt = secrets.token_bytes(32)
        self._values: OrderedDict[str, NamedSecret] = OrderedDict()
        self.version = 0

    def assign_name(self, value: str) -> str:
        """Return the name of a value, the same for equal values."""
        digest = hmac.new(self._salt, value.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()
        name = f"seen-{digest[:12]}"
        if name not in self._values:
            self._values[name] = NamedSecret(name, value, "process")
            self.version += 1
        self._values.move_to_end(name)
        if len(self._values) > _MAX_SEEN:
            self._values.popitem(last=False)
        return name

    def get(self, name: str) -> NamedSecret | None:
        """Return the value under a name."""
        return self._values.get(name)

    def list_newest(self) -> list[NamedSecret]:
        """Return the values to search by value alone. Ordinary words are left out."""
        newest = list(self._values.values())[-_MAX_SEARCHED:]
        return [secret for secret in newest if not explain_ordinary(secret.name, secret.value)]


def explain_ordinary(name: str, value: str) -> str:
    """Return why the value occurs in ordinary text, so that it cannot be a secret; empty if it can."""
    bare = value.strip()
    if len(bare) < MIN_VALUE_CHARS:
        return f"it has fewer than {MIN_VALUE_CHARS} characters"
    if len(set(bare)) < 4:
        return "it has fewer than 4 different characters"
    if bare.isalpha() and bare in (bare.lower(), bare.upper(), bare.capitalize()) and len(bare) < _MAX_WORD_CHARS:
        return "it looks like a word"
    if bare.isdecimal() and len(bare) < _MAX_NUMBER_CHARS:
        return "it looks like a number"
    if bare.lower() in f"{HANDLE}{name}".lower():
        return "it is part of its handle"
    return ""
