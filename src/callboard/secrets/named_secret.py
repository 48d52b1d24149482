"""Values that are known: those with a name, and those that this process saw something like."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections import OrderedDict
from dataclasses import dataclass, field

from callboard.contracts.entities.secret import SecretPlace

from .forms import forms
from .ordinary_text import explain_ordinary

#: How many things that only looked like secrets this process can put back, and how many it also finds where nothing but
#: their value tells.
_MOST_SEEN = 4096
_MOST_LOOKED_FOR = 200


@dataclass(frozen=True)
class NamedSecret:
    """A value under a name. One that is `gone` is redacted and put nowhere."""

    name: str
    value: str
    place: SecretPlace
    is_removed: bool = False
    forms: dict[str, str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "forms", forms(self.value))

    def __repr__(self) -> str:
        return f"Known({self.name!r})"

    def text(self, form: str) -> str | None:
        """The value in a form."""
        return next((text for text, name in self.forms.items() if name == form), None)


class SeenValues:
    """What looked like a secret, under names that mean nothing to another process. `news` rises when there is more to look
    for."""

    def __init__(self) -> None:
        self._salt = secrets.token_bytes(32)
        self._values: OrderedDict[str, NamedSecret] = OrderedDict()
        self.version = 0

    def name(self, value: str) -> str:
        """The name of a value, the same one for the same value."""
        digest = hmac.new(self._salt, value.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()
        name = f"seen-{digest[:12]}"
        if name not in self._values:
            self._values[name] = NamedSecret(name, value, "process")
            self.version += 1
        self._values.move_to_end(name)
        if len(self._values) > _MOST_SEEN:
            self._values.popitem(last=False)
        return name

    def get(self, name: str) -> NamedSecret | None:
        """What was seen under a name."""
        return self._values.get(name)

    def list_newest(self) -> list[NamedSecret]:
        """What is looked for wherever it stands. A word that stood where a password does is none of it."""
        names = list(self._values)[-_MOST_LOOKED_FOR:]
        return [one for name in names if not explain_ordinary(name, (one := self._values[name]).value)]
