"""Files of settings as they are shown and written: secrets masked, comments kept, a folder's through no link."""

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

#: What stands for a secret where settings are shown.
MASK = "********"

Tables = dict[str, Any]


class Merged(NamedTuple):
    """A file with its changes, and the names of those that change something."""

    source: bytes
    keys: tuple[str, ...]


def read_source(place: Place, user: Path, folder: str) -> bytes | None:
    """The file's bytes, None where there is none or it is one that nobody should read. A user's may be a link."""
    try:
        if place == "user":
            return read_regular(user)
        with Folder(folder) as opened:
            return opened.read(FILE, MAX_BYTES)
    except (OSError, PathDenied):
        return None


def compute_digest(data: bytes | None) -> str:
    """The SHA-256 of a file in hex, empty where there is none."""
    return "" if data is None else hashlib.sha256(data).hexdigest()


def tables(data: bytes, name: str) -> Tables:
    """What the file says, as it stands there. Raises Refusal `bad_settings`."""
    return parse_toml(data, name)


@cache
def json_schema(place: Place) -> Tables:
    """The JSON Schema of a file of this place."""
    return msgspec.json.schema(Settings if place == "user" else FolderSettings)


def mask_secrets(settings: Tables) -> Tables:
    """The settings with `********` for every value that is a secret and no handle of one."""
    shown = copy.deepcopy(settings)
    for entry, key in _secrets(shown):
        if entry[key] and not str(entry[key]).startswith(HANDLE):
            entry[key] = MASK
    # What TOML has and JSON has not, such as a date, is in no setting; a file that is not valid is not shown.
    return msgspec.to_builtins(shown)


def merge_changes(before: bytes, changes: Mapping[str, Any], place: Place, name: str) -> Merged:
    """The file with the changes: null takes a key out, a table is merged, all else takes the place of what was there.

    Raises Refusal `bad_settings` naming the change, such as `changes.port`.
    """
    former = parse_toml(before, name)
    wanted = copy.deepcopy(former)
    unmasked = _unmasked(dict(changes), former)
    for key, value in unmasked.items():
        _merge(wanted, key, value)
    try:
        if place == "user":
            convert_tables(wanted, Settings, name)
        else:
            convert_tables(wanted, FolderSettings, name)
    except Refusal as refusal:
        problem = refusal.problem
        top = problem.field.partition(".")[0]
        field = f"changes.{problem.field}" if top in changes else problem.field
        raise Refusal("bad_settings", problem.message, field=field, hint="Nothing was written.") from refusal
    keys = tuple(key for key in changes if former.get(key) != wanted.get(key))
    if not keys:
        return Merged(before, ())
    try:
        document = tomlkit.parse(before.decode())
        for key in keys:
            _write(cast("Tables", document), key, wanted.get(key))
        after = tomlkit.dumps(document).encode()
    except (TOMLKitError, ValueError, TypeError) as error:
        raise _unwritable(name, keys) from error
    if parse_toml(after, name) != wanted:
        raise _unwritable(name, keys)
    return Merged(after, keys)


def parse_user_settings(data: bytes, path: Path) -> Settings:
    """The user's settings that these bytes hold. Raises Refusal `bad_settings`."""
    settings = convert_tables(parse_toml(data, str(path)), Settings, str(path), text=data)
    return msgspec.structs.replace(
        settings, models=tuple(resolve_paths(model, path.parent) for model in settings.models)
    )


def write_source(place: Place, user: Path, folder: str, before: bytes | None, data: bytes | None) -> None:
    """Writes the file whole, the user's with mode 0600; None takes it away. Raises Refusal `conflict`, `path_denied`,
    `store_full`, `bad_settings`."""
    path = user if place == "user" else Path(folder) / FILE
    try:
        if place == "user":
            user.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # Where it is a link, what it leads to is written: some keep their settings elsewhere.
            user.unlink() if data is None else write_private(user.resolve(), data)
            return
        with Folder(folder) as opened:
            if data is not None:
                plan = PlannedChange(path=FILE, before=before, after=data)
                replace(opened, plan, threading.Event())
                return
            with opened.open_parent(FILE) as (handle, name):
                os.unlink(name, dir_fd=handle)
    except ChangedMeanwhileError as error:
        raise Refusal(
            "conflict", f"{path} was changed meanwhile.", field="digest", hint="Read it again with get_settings."
        ) from error
    except PathDenied as denied:
        raise Refusal("path_denied", denied.message, field="place", hint="Make it a plain file.") from denied
    except OSError as error:
        code = "store_full" if is_full(error) else "bad_settings"
        hint = "Make room." if code == "store_full" else FAILED_HINT if is_failed(error) else "Look at its permissions."
        raise Refusal(code, f"{path} cannot be written: {error.strerror}.", field="place", hint=hint) from error


def _merge(target: Tables, key: str, value: Any) -> None:
    """As a JSON merge patch does it (RFC 7396)."""
    if value is None:
        target.pop(key, None)
    elif isinstance(value, dict):
        inner: Any = target.get(key)
        target[key] = dict(cast("Tables", inner)) if isinstance(inner, dict) else {}
        for name, one in cast("Tables", value).items():
            _merge(target[key], name, one)
    else:
        target[key] = _without_null(value)


def _without_null(value: Any) -> Any:
    """The value as TOML can say it: what is null in a table of a list is left out."""
    if isinstance(value, dict):
        entries = cast("Tables", value).items()
        return {key: _without_null(one) for key, one in entries if one is not None}
    return [_without_null(one) for one in cast("list[Any]", value)] if isinstance(value, list) else value


def _write(document: Tables, key: str, value: Any) -> None:
    """Puts the value into the document with as little change as can be: comments in tables that stay are kept."""
    if value is None:
        document.pop(key, None)
        return
    there: Any = document.get(key)
    if isinstance(value, dict) and isinstance(there, dict):
        wanted, table = cast("Tables", value), cast("Tables", there)
        for name in [name for name in table if name not in wanted]:
            del table[name]
        for name, one in wanted.items():
            if name not in table or _plain(table[name]) != one:
                _write(table, name, one)
    elif isinstance(there, AoT) and isinstance(value, list) and value:
        _write_tables(there, cast("list[Tables]", value))
    else:
        document[key] = value


def _write_tables(there: Any, wanted: list[Tables]) -> None:
    for number, one in enumerate(wanted):
        if number < len(there):
            for name in [name for name in there[number] if name not in one]:
                del there[number][name]
            for name, value in one.items():
                if name not in there[number] or _plain(there[number][name]) != value:
                    _write(there[number], name, value)
        else:
            there.append(tomlkit.item(one))
    while len(there) > len(wanted):
        del there[len(there) - 1]


def _plain(value: Any) -> Any:
    return value.unwrap() if hasattr(value, "unwrap") else value


def _secrets(settings: Tables) -> list[tuple[Tables, str]]:
    """Every place where a secret may stand, as its table and key."""
    found = [(entry, "api_key") for entry in _entries(settings, "models") if isinstance(entry.get("api_key"), str)]
    for server in (*_entries(settings, "servers"), *_entries(settings, "hooks")):
        for table in ("env", "headers"):
            values: Any = server.get(table)
            if isinstance(values, dict):
                found += [(cast("Tables", values), name) for name in cast("Tables", values)]
    return found


def _entries(settings: Tables, key: str) -> list[Tables]:
    entries: Any = settings.get(key)
    if not isinstance(entries, list | tuple):
        return []
    return [cast("Tables", one) for one in cast("list[Any]", entries) if isinstance(one, dict)]


def _unmasked(changes: Tables, former: Tables) -> Tables:
    """The changes with what `********` stands for, from the entry of the same name. Raises Refusal `bad_settings`."""
    changes = copy.deepcopy(changes)
    for key, tables_of in (("models", ("",)), ("servers", ("env", "headers")), ("hooks", ("env",))):
        known = {entry.get("name"): entry for entry in _entries(former, key)}
        for entry in _entries(changes, key):
            before: Tables = known.get(entry.get("name"), {})
            for table in tables_of:
                mine: Any = entry.get(table, {}) if table else entry
                theirs: Any = before.get(table, {}) if table else before
                _unmask(mine, theirs, f"changes.{key}")
    return changes


def _unmask(mine: Any, theirs: Any, field: str) -> None:
    if not isinstance(mine, dict):
        return
    table = cast("Tables", mine)
    for name in [name for name, value in table.items() if value == MASK]:
        if not isinstance(theirs, dict) or name not in theirs:
            message = f"{MASK} keeps a secret that is there already, and there is none for {name}."
            raise Refusal("bad_settings", message, field=field, hint="Give the secret, or a handle of it.")
        table[name] = theirs[name]


def _unwritable(name: str, keys: tuple[str, ...]) -> Refusal:
    return Refusal(
        "bad_settings",
        f"{', '.join(keys)} cannot be changed in {name} without changing more of it.",
        field=f"changes.{keys[0]}",
        hint="Change it in the file itself.",
    )
