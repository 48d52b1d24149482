"""Description of a secret without its value."""

from __future__ import annotations

from typing import Literal

import msgspec

#: Where a secret is: the system's keyring, the environment, a settings file, or only this process,
#: which detected it.
SecretPlace = Literal["keyring", "environment", "settings", "process"]


class SecretInfo(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A secret without its value. A `key` is sent to its provider only, never to a tool."""

    name: str
    place: SecretPlace
    key: bool = False
