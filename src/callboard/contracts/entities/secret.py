"""What is said of a secret without its value."""

from __future__ import annotations

from typing import Literal

import msgspec

#: The system's keyring, the environment, what a settings file holds, or this process, which saw something like a secret.
SecretPlace = Literal["keyring", "environment", "settings", "process"]


class SecretInfo(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A secret without its value. One that is a `key` is given to the provider that it belongs to and to no tool."""

    name: str
    place: SecretPlace
    key: bool = False
