"""Commands that read and change settings."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from ..settings import Place, SettingsProblem
from .base import Answer, Command, Id, command


class SettingsRead(Answer, frozen=True, kw_only=True):
    """A settings file: its `values`, and the effective settings in `holding`, as JSON with every secret as `********`.

    `json_schema` describes `values`. `digest` is the SHA-256 of the file in hex, empty for no file.
    `values` is empty for an unreadable file, which `problems` explain.
    """

    place: Place
    path: str
    digest: str
    values: dict[str, Any]
    holding: dict[str, Any]
    json_schema: dict[str, Any]
    problems: tuple[SettingsProblem, ...]


@command("get_settings", SettingsRead, serial="store", query=True)
class GetSettings(Command, frozen=True, kw_only=True):
    """Read a settings file and the effective settings, with secrets masked.

    The file is the user's, or the one in a workspace's folder.
    """

    place: Place = "user"
    workspace_id: Id | None = None


class SettingsUpdated(Answer, frozen=True, kw_only=True):
    """The changed keys, and the new digest of the file."""

    place: Place
    path: str
    digest: str
    keys: tuple[str, ...]


@command("update_settings", SettingsUpdated, serial="store", has_secrets=True)
class UpdateSettings(Command, frozen=True, kw_only=True):
    """Write named keys to a settings file.

    null removes a key. All other keys and all comments stay unchanged. `digest` is the digest of the file as the caller
    read it, empty if there was no file. `********` keeps the secret of the entry with the same name.
    """

    changes: Annotated[dict[Annotated[str, Meta(min_length=1, max_length=64)], Any], Meta(min_length=1, max_length=50)]
    digest: Annotated[str, Meta(pattern=r"^([0-9a-f]{64})?$(?!\n)")]
    place: Place = "user"
    workspace_id: Id | None = None
