"""Commands that manage secrets. Commands take values; answers and facts never contain one."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from ..entities.secret import SecretInfo
from .base import Answer, Command, command

SecretName = Annotated[
    str,
    Meta(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$",
        description="Name in the handle secret://NAME: letters, digits, _ and -.",
    ),
]


class SecretStored(Answer, frozen=True, kw_only=True):
    """The storage place of the value, and the handle to use in its place."""

    name: str
    place: str
    handle: str


@command("set_secret", SecretStored, serial="store", has_secrets=True)
class SetSecret(Command, frozen=True, kw_only=True):
    """Store a secret in the system's keyring.

    A value of the same name is replaced. Everywhere else the secret's handle is used.
    """

    name: SecretName
    value: Annotated[str, Meta(min_length=1, max_length=65_536, description="Stored in the keyring, and never shown.")]

    def __repr__(self) -> str:
        return f"SetSecret(name={self.name!r})"


class SecretRemoved(Answer, frozen=True, kw_only=True):
    """The keyring has no value of this name now."""

    name: str


@command("remove_secret", SecretRemoved, serial="store")
class RemoveSecret(Command, frozen=True, kw_only=True):
    """Remove a secret from the system's keyring."""

    name: SecretName


class SecretList(Answer, frozen=True, kw_only=True):
    """The secrets by name, without values.

    `problem` explains why the keyring is unavailable; empty if it is available.
    """

    secrets: tuple[SecretInfo, ...]
    problem: str = ""


@command("list_secrets", SecretList, serial="store", query=True)
class ListSecrets(Command, frozen=True, kw_only=True):
    """List the secrets by name and place, without their values."""
