"""The commands of the key store. A value goes in and never comes out: answers and facts name it by its handle."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from ..entities.secret import SecretInfo
from .base import Answer, Command, Declaration

SecretName = Annotated[
    str,
    Meta(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$",
        description="Names it in the handle secret://NAME: letters, digits, _ and -.",
    ),
]


class SetSecret(Command, frozen=True, kw_only=True):
    """Keep a value in the system's keyring. The same name takes the place of a former value."""

    name: SecretName
    value: Annotated[str, Meta(min_length=1, max_length=65_536, description="Is kept, and told to nobody.")]

    def __repr__(self) -> str:
        return f"SetSecret(name={self.name!r})"


class SecretKept(Answer, frozen=True, kw_only=True):
    """Where the value is kept, and the handle that stands for it."""

    name: str
    place: str
    handle: str


class RemoveSecret(Command, frozen=True, kw_only=True):
    """Forget a value that is in the system's keyring."""

    name: SecretName


class SecretGone(Answer, frozen=True, kw_only=True):
    """There is no value of that name in the keyring any more."""

    name: str


class ListSecrets(Command, frozen=True, kw_only=True):
    """Which secrets there are."""


class SecretList(Answer, frozen=True, kw_only=True):
    """The secrets by name, without their values. `problem` says why the keyring cannot be used, and is empty where it can."""

    secrets: tuple[SecretInfo, ...]
    problem: str = ""


SECRETS_TABLE: tuple[Declaration, ...] = (
    Declaration(
        name="list_secrets",
        command=ListSecrets,
        answer=SecretList,
        serial="store",
        query=True,
        summary="The secrets that there are, by name and place, without their values.",
    ),
    Declaration(
        name="set_secret",
        command=SetSecret,
        answer=SecretKept,
        serial="store",
        summary="Keep a secret in the system's keyring; its handle stands for it everywhere else.",
    ),
    Declaration(
        name="remove_secret",
        command=RemoveSecret,
        answer=SecretGone,
        serial="store",
        summary="Forget a secret that is in the system's keyring.",
    ),
)
