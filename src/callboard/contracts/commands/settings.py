"""The commands of settings."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from ..settings import Place, SettingsProblem
from .base import Answer, Command, Declaration
from .turns import Id


class GetSettings(Command, frozen=True, kw_only=True):
    """What stands in a file of settings: the user's, or that of a workspace's folder."""

    place: Place = "user"
    workspace_id: Id | None = None


class SettingsRead(Answer, frozen=True, kw_only=True):
    """`values` is what the file says and `holding` what holds with it, both as JSON with every secret as `********`;
    `json_schema` describes `values`. `digest` is the SHA-256 of the file, empty where there is none; `problems` say why it
    could not be read, and `values` is empty then."""

    place: Place
    path: str
    digest: str
    values: dict[str, Any]
    holding: dict[str, Any]
    json_schema: dict[str, Any]
    problems: tuple[SettingsProblem, ...]


class UpdateSettings(Command, frozen=True, kw_only=True):
    """Write the named keys into a file of settings; null takes a key out, and what is not named stays as it is, comments
    included. `digest` is that of the file as it was read, empty where there was none. `********` keeps a secret of the entry
    of the same name."""

    changes: Annotated[dict[Annotated[str, Meta(min_length=1, max_length=64)], Any], Meta(min_length=1, max_length=50)]
    digest: Annotated[str, Meta(pattern=r"^([0-9a-f]{64})?$(?!\n)")]
    place: Place = "user"
    workspace_id: Id | None = None


class SettingsUpdated(Answer, frozen=True, kw_only=True):
    """`keys` are those that changed, `digest` the file's as it is now."""

    place: Place
    path: str
    digest: str
    keys: tuple[str, ...]


SETTINGS_TABLE: tuple[Declaration, ...] = (
    Declaration(
        name="get_settings",
        command=GetSettings,
        answer=SettingsRead,
        serial="store",
        query=True,
        summary="What stands in a file of settings and what holds with it, secrets masked.",
    ),
    Declaration(
        name="update_settings",
        command=UpdateSettings,
        answer=SettingsUpdated,
        serial="store",
        summary="Write named keys into a file of settings, against the file as it was read.",
    ),
)
