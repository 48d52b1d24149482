"""Settings files for reading with masked secrets, and for writing with their comments."""

from __future__ import annotations

import copy
import hashlib
import os
import threading
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, cast

import msgspec
import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AoT

from callboard.contracts.disk import FAILED_HINT, is_failed, is_full
from callboard.contracts.errors import Refusal
from callboard.contracts.ports.secrets import HANDLE
from callboard.contracts.settings import FolderSettings, Place, Settings
from callboard.tools.files.changes import PlannedChange
from callboard.tools.files.handles import Folder
from callboard.tools.files.paths import PathDenied
from callboard.tools.protection.atomic_write import ChangedMeanwhileError, replace

from ..models.providers import resolve_paths
from ..state_folder import read_regular, write_private
from .folder_file import FILE
from .loader import MAX_BYTES, convert_tables, parse_toml

#: Replaces a secret in settings that are shown.
MASK = "********"

Tables = dict[str, Any]


class MergedFile(NamedTuple):
    """A changed file, and the top-level keys that differ from before."""

    source: bytes
    keys: tuple[str, ...]


def read_source(place: Place, user: Path, folder: str) -> bytes | None:
    """Return the file's bytes; None if it is missing or unreadable. Only the user's file may be a link."""
    try:
        if place == "user":
            return read_regular(user)
        with Folder(folder) as opened:
            return opened.read(FILE, MAX_BYTES)
    except (OSError, PathDenied):
        return None


def compute_digest(data: bytes | None) -> str:
    """Return the SHA-256 in hex; empty without a file."""
    return "" if data is None else hashlib.sha256(data).hexdigest()


@cache
def build_json_schema(place: Place) -> Tables:
    """Return the JSON Schema of the user's or a folder's file."""
    return msgspec.json.schema(Settings if place == "user" else FolderSettings)


def mask_settings(settings: Tables) -> Tables:
    """Return the settings with `********` for each secret that is not a handle."""
    masked = copy.deepcopy(settings)
    for table, key in _list_secrets(masked):
        if table[key] and not str(table[key]).startswith(HANDLE):
            table[key] = MASK
    return msgspec.to_builtins(masked)


def merge_changes(before: bytes, changes: Mapping[str, Any], place: Place, name: str) -> MergedFile:
    """Apply changes to a file: null removes a key, a table is merged, any other value replaces the former one.

    Raises Refusal `bad_settings` naming the change, such as `changes.port`.
    """
    former = parse_toml(before, name)
    settings = copy.deepcopy(former)
    for key, value in _restore_masked(dict(changes), former).items():
        _merge(settings, key, value)
    try:
        if place == "user":
            convert_tables(settings, Settings, name)
        else:
            convert_tables(settings, FolderSettings, name)
    except Refusal as refusal:
        problem = refusal.problem
        top = problem.field.partition(".")[0]
        field = f"changes.{problem.field}" if top in changes else problem.field
        # The changed file is never written, so a person finds no such line.
        parameters = {name: value for name, value in problem.params.items() if name != "line"}
        raise Refusal(
            "bad_settings",
            problem.message,
            field=field,
            hint="Nothing was written.",
            reason=problem.reason,
            parameters=parameters,
        ) from refusal
    keys = tuple(key for key in changes if former.get(key) != settings.get(key))
    if not keys:
        return MergedFile(before, ())
    try:
        document = tomlkit.parse(before.decode())
        for key in keys:
            _write(cast("Tables", document), key, settings.get(key))
        after = tomlkit.dumps(document).encode()
    except (TOMLKitError, ValueError, TypeError) as error:
        raise _build_refusal(name, keys) from error
    if parse_toml(after, name) != settings:
        raise _build_refusal(name, keys)
    return MergedFile(after, keys)


def parse_user_settings(data: bytes, path: Path) -> Settings:
    """Parse the user's settings; relative paths start at the file's folder. Raises Refusal `bad_settings`."""
    settings = convert_tables(parse_toml(data, str(path)), Settings, str(path), text=data)
    return msgspec.structs.replace(
        settings, models=tuple(resolve_paths(model, path.parent) for model in settings.models)
    )


def write_source(place: Place, user: Path, folder: str, before: bytes | None, data: bytes | None) -> None:
    """Write the file atomically, the user's with mode 0600. None as `data` removes it.

    Raises Refusal `conflict`, `path_denied`, `store_full`, `bad_settings`.
    """
    path = user if place == "user" else Path(folder) / FILE
    try:
        if place == "user":
            user.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # Write the target of a link: some people keep their settings in another folder.
            user.unlink() if data is None else write_private(user.resolve(), data)
            return
        with Folder(folder) as opened:
            if data is not None:
                replace(opened, PlannedChange(path=FILE, before=before, after=data), threading.Event())
                return
            with opened.open_parent(FILE) as (handle, name):
                os.unlink(name, dir_fd=handle)
    except ChangedMeanwhileError as error:
        raise Refusal(
            "conflict", f"{path} has changed.", field="digest", hint="Read it again with get_settings."
        ) from error
    except PathDenied as denied:
        raise Refusal("path_denied", denied.message, field="place", hint="Replace it with a regular file.") from denied
    except OSError as error:
        code = "store_full" if is_full(error) else "bad_settings"
        hint = "Free space." if code == "store_full" else FAILED_HINT if is_failed(error) else "Check its permissions."
        raise Refusal(
            code,
            f"{path} cannot be written: {error.strerror}.",
            field="place",
            hint=hint,
            reason="file_unwritable",
            parameters={"reason": str(error.strerror)},
        ) from error


def _merge(target: Tables, key: str, value: Any) -> None:
    """Apply a JSON merge patch (RFC 7396)."""
    if value is None:
        target.pop(key, None)
    elif isinstance(value, dict):
        inner: Any = target.get(key)
        target[key] = dict(cast("Tables", inner)) if isinstance(inner, dict) else {}
        for name, member in cast("Tables", value).items():
            _merge(target[key], name, member)
    else:
        target[key] = _drop_nulls(value)


def _drop_nulls(value: Any) -> Any:
    """Drop null values of tables: TOML has no null."""
    if isinstance(value, dict):
        members = cast("Tables", value).items()
        return {key: _drop_nulls(member) for key, member in members if member is not None}
    return [_drop_nulls(item) for item in cast("list[Any]", value)] if isinstance(value, list) else value


def _write(document: Tables, key: str, value: Any) -> None:
    """Set a key of the document and keep the comments of its unchanged parts."""
    if value is None:
        document.pop(key, None)
        return
    former: Any = document.get(key)
    if isinstance(value, dict) and isinstance(former, dict):
        _write_table(cast("Tables", former), cast("Tables", value))
    elif isinstance(former, AoT) and isinstance(value, list) and value:
        _write_tables(former, cast("list[Tables]", value))
    else:
        document[key] = value


def _write_table(table: Tables, values: Tables) -> None:
    for name in [name for name in table if name not in values]:
        del table[name]
    for name, value in values.items():
        if name not in table or _unwrap(table[name]) != value:
            _write(table, name, value)


def _write_tables(tables: Any, values: list[Tables]) -> None:
    for index, value in enumerate(values):
        if index < len(tables):
            _write_table(tables[index], value)
        else:
            tables.append(tomlkit.item(value))
    while len(tables) > len(values):
        del tables[len(tables) - 1]


def _unwrap(value: Any) -> Any:
    return value.unwrap() if hasattr(value, "unwrap") else value


def _list_secrets(settings: Tables) -> list[tuple[Tables, str]]:
    """Return the table and key of each value that may be a secret."""
    secrets = [
        (entry, "api_key") for entry in _list_entries(settings, "models") if isinstance(entry.get("api_key"), str)
    ]
    for program in (*_list_entries(settings, "servers"), *_list_entries(settings, "hooks")):
        for key in ("env", "headers"):
            values: Any = program.get(key)
            if isinstance(values, dict):
                secrets += [(cast("Tables", values), name) for name in cast("Tables", values)]
    return secrets


def _list_entries(settings: Tables, key: str) -> list[Tables]:
    entries: Any = settings.get(key)
    if not isinstance(entries, list | tuple):
        return []
    return [cast("Tables", entry) for entry in cast("list[Any]", entries) if isinstance(entry, dict)]


def _restore_masked(changes: Tables, former: Tables) -> Tables:
    """Replace each `********` with the secret of the former entry of the same name. Raises Refusal `bad_settings`."""
    changes = copy.deepcopy(changes)
    for key, secret_tables in (("models", ("",)), ("servers", ("env", "headers")), ("hooks", ("env",))):
        former_entries = {entry.get("name"): entry for entry in _list_entries(former, key)}
        for entry in _list_entries(changes, key):
            before: Tables = former_entries.get(entry.get("name"), {})
            for table in secret_tables:
                values: Any = entry.get(table, {}) if table else entry
                stored: Any = before.get(table, {}) if table else before
                _restore_values(values, stored, f"changes.{key}")
    return changes


def _restore_values(values: Any, stored: Any, field: str) -> None:
    if not isinstance(values, dict):
        return
    table = cast("Tables", values)
    for name in [name for name, value in table.items() if value == MASK]:
        if not isinstance(stored, dict) or name not in stored:
            message = f"{MASK} keeps a stored secret, but there is no stored secret for {name}."
            raise Refusal(
                "bad_settings",
                message,
                field=field,
                hint="Give the secret or its handle.",
                reason="secret_not_stored",
                parameters={"name": name},
            )
        table[name] = stored[name]


def _build_refusal(name: str, keys: tuple[str, ...]) -> Refusal:
    return Refusal(
        "bad_settings",
        f"{', '.join(keys)} cannot be changed in {name} without other changes to the file.",
        field=f"changes.{keys[0]}",
        hint="Edit the file.",
        reason="edit_required",
        parameters={"keys": ", ".join(keys)},
    )
