"""Where settings are kept, and what holds in a folder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import msgspec

from ..settings import Asked, Effective, Place, Settings, SettingsProblem, StandingRule


class ShownSettings(msgspec.Struct, frozen=True, kw_only=True):
    """A file of settings as it is shown: what it says and what holds with it, with every secret masked, and the JSON Schema of
    what it can say. `digest` is the file's SHA-256 in hex, empty where there is none."""

    path: str
    digest: str
    values: dict[str, Any]
    holding: dict[str, Any]
    json_schema: dict[str, Any]
    problems: tuple[SettingsProblem, ...]


class WrittenSettings(msgspec.Struct, frozen=True, kw_only=True):
    """A file of settings that was written: what changed in it, the SHA-256 of what it holds now (hex), and what it held before
    (None where there was none)."""

    place: Place
    folder: str
    path: str
    digest: str
    keys: tuple[str, ...]
    before: bytes | None


class SettingsBook(Protocol):
    """The settings of the user and of folders. Each answer is that of the files as they are now; a file that cannot be read
    is a problem that is told, and says nothing: it never widens."""

    def user(self) -> Settings:
        """The user's settings, with what the environment says over them. Raises Refusal `bad_settings`."""
        ...

    def asked(self, folder: str) -> Asked:
        """What the folder's own files would widen."""
        ...

    def effective(self, folder: str, trusted: str) -> Effective:
        """What holds in the folder, where `trusted` is the digest that a person trusts (empty for none)."""
        ...

    def rules(self, folder: str, trusted: str) -> tuple[StandingRule, ...]:
        """The rules of the user's file and the folder's, those included that do not hold there."""
        ...

    def problems(self, folder: str) -> tuple[SettingsProblem, ...]:
        """What is wrong with the user's file and the folder's."""
        ...

    def read(self, place: Place, folder: str, trusted: str) -> ShownSettings:
        """A file of settings as it is shown, secrets masked. `folder` is empty where none is meant."""
        ...

    def write(self, place: Place, folder: str, changes: Mapping[str, Any], digest: str) -> WrittenSettings:
        """Writes the named keys into a file that has this digest; None takes one out. What was set holds at once, models
        included. Raises Refusal `conflict` where the file is another by now, `bad_settings` of what cannot be set,
        `path_denied` where the file is none of the folder's own, `store_full`."""
        ...

    def put_back(self, written: WrittenSettings) -> None:
        """Gives a file back what it held before, where what followed from its change could not be kept."""
        ...
