"""Port of settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import msgspec

from ..settings import Effective, ListedRule, Place, RequestedPermissions, Settings, SettingsProblem


class ShownSettings(msgspec.Struct, frozen=True, kw_only=True):
    """A settings file for display: its values and the effective ones, with secrets masked, and the JSON Schema of the values.

    `digest` is the file's SHA-256 in hex, empty for no file.
    """

    path: str
    digest: str
    values: dict[str, Any]
    holding: dict[str, Any]
    json_schema: dict[str, Any]
    problems: tuple[SettingsProblem, ...]


class WrittenSettings(msgspec.Struct, frozen=True, kw_only=True):
    """A written settings file: its changed keys, its new SHA-256 in hex, and its former content (None for no file)."""

    place: Place
    folder: str
    path: str
    digest: str
    keys: tuple[str, ...]
    before: bytes | None


class SettingsStore(Protocol):
    """Settings of the user and of folders.

    Each call reads the present files. An unreadable file is reported and grants nothing.
    """

    def read_user(self) -> Settings:
        """Return the user's settings, overridden by the environment.

        Raises:
            Refusal: `bad_settings`.
        """
        ...

    def read_requested_permissions(self, folder: str) -> RequestedPermissions:
        """Return the permissions that the folder's files request."""
        ...

    def read_effective(self, folder: str, trusted: str) -> Effective:
        """Return the effective settings of the folder.

        `trusted` is the digest that a person trusts, empty for none.
        """
        ...

    def list_rules(self, folder: str, trusted: str) -> tuple[ListedRule, ...]:
        """Return the rules of the user's file and the folder's, including the ones that do not apply."""
        ...

    def list_problems(self, folder: str) -> tuple[SettingsProblem, ...]:
        """Return the problems of the user's file and the folder's."""
        ...

    def read(self, place: Place, folder: str, trusted: str) -> ShownSettings:
        """Return a settings file for display. `folder` is empty for the user's."""
        ...

    def write(self, place: Place, folder: str, changes: Mapping[str, Any], digest: str) -> WrittenSettings:
        """Write the named keys to a file with this digest; None removes a key.

        The new values apply immediately, models included.

        Raises:
            Refusal: `conflict` if the file changed, `bad_settings` for an invalid value,
                `path_denied` for a file outside the folder, or `store_full`.
        """
        ...

    def restore(self, written: WrittenSettings) -> None:
        """Restore the former content of a file."""
        ...
