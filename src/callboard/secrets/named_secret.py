"""Values under names: stored secrets, and values that only looked like secrets."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections import OrderedDict
from dataclasses import dataclass, field

from callboard.contracts.entities.secret import SecretPlace

from .forms import forms
from .ordinary_text import explain_ordinary

#: Maximum number of seen values that this process can restore, and of those that it also searches
#: by value alone.
_MOST_SEEN = 4096
_MOST_LOOKED_FOR = 200


@dataclass(frozen=True)
class NamedSecret:
    """A value under a name. A removed one is redacted but never revealed."""

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
        """Return the value in a form."""
        return next((text for text, name in self.forms.items() if name == form), None)


class SeenValues:
    """Values that looked like secrets, under names valid in this process. `version` increases with
    each new value.
    """

    def __init__(self) -> None:
        self._salt = secrets.token_bytes(32)
        self._values: OrderedDict[str, NamedSecret] = OrderedDict()
        self.version = 0

    def name(self, value: str) -> str:
        """Return the name of a value. Equal values have the same name."""
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
        """Return the value under a name."""
        return self._values.get(name)

    def list_newest(self) -> list[NamedSecret]:
        """Return the values to search by value alone. Ordinary words are left out."""
        names = list(self._values)[-_MOST_LOOKED_FOR:]
        return [one for name in names if not explain_ordinary(name, (one := self._values[name]).value)]
