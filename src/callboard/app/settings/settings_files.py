"""Effective settings from files that are reloaded when they change."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from callboard.contracts.errors import Refusal
from callboard.contracts.facts.permission import Rule, RuleScope
from callboard.contracts.facts.turn import PermissionMode
from callboard.contracts.ports.agents import Definitions
from callboard.contracts.ports.settings import ShownSettings, WrittenSettings
from callboard.contracts.settings import (
    Effective,
    Hook,
    ListedRule,
    Place,
    RequestedPermissions,
    RuleEntry,
    Server,
    Settings,
    SettingsProblem,
)
from callboard.contracts.tool_names import to_stored_matcher
from callboard.control.decision_inputs import narrow_mode

from ..state_folder import StateFolder
from . import file_editor, folder_file
from .folder_file import FolderFile, Program
from .loader import apply_environment, parse_toml, read_user_settings
from .problems import to_problem

#: Nanoseconds after a change during which a file may change again under the same time stamp.
_SETTLED_NS = 2_000_000_000
_UNTRUSTED = "the folder is not trusted for the present requests of its files"


class _FileStamp(NamedTuple):
    """The file attributes that a change alters."""

    inode: int
    mode: int
    size: int
    modified: int
    changed: int


class _User(NamedTuple):
    stamp: _FileStamp | None
    settled: bool
    settings: Settings
    refusal: Refusal | None


class _Folder(NamedTuple):
    stamp: _FileStamp | None
    settled: bool
    file: FolderFile


class SettingsFiles:
    """The port `SettingsStore`."""

    def __init__(
        self,
        state_folder: StateFolder,
        environment: Mapping[str, str],
        definitions: Definitions,
        on_change: Callable[[Settings], None] = lambda _: None,
    ) -> None:
        """Read the user's file.

        Args:
            on_change: Receives the user's settings when they are written here or edited by hand. It may refuse them: then
                nothing is written, and the former settings stay in force.
        """
        self._state_folder = state_folder
        self._environment = environment
        self._definitions = definitions
        self._on_change = on_change
        self._user: _User | None = None
        self._folders: dict[str, _Folder] = {}
        self._effective: dict[str, tuple[Settings, FolderFile, bool, Effective]] = {}
        self._requests: dict[str, tuple[Settings, FolderFile, str, tuple[Program, ...], RequestedPermissions]] = {}
        # A later read is compared with the settings of the start.
        self._read_user()

    def read_user(self) -> Settings:
        user = self._read_user()
        if user.refusal is not None:
            raise user.refusal
        return user.settings

    def is_users(self, entry: Server | Hook) -> bool:
        """Return True for a server or hook of the user's own settings."""
        user = self._read_user().settings
        return entry in user.servers or entry in user.hooks

    def read_requested_permissions(self, folder: str) -> RequestedPermissions:
        return self._list_requests(folder, self._read_folder(folder), self._read_user().settings)

    def read_effective(self, folder: str, trusted: str) -> Effective:
        user, file = self._read_user().settings, self._read_folder(folder)
        was_trusted, is_trusted = bool(trusted), self._is_trusted(folder, file, user, trusted)
        cached = self._effective.get(folder)
        # Every decision reads this, so the same object is returned until a file changes.
        if (
            cached is None
            or cached[0] is not user
            or cached[1] is not file
            or (cached[2], cached[3].trusted) != (was_trusted, is_trusted)
        ):
            effective = _combine(user, file, is_trusted=is_trusted, was_trusted=was_trusted)
            cached = self._effective[folder] = (user, file, was_trusted, effective)
        return cached[3]

    def _is_trusted(self, folder: str, file: FolderFile, user: Settings, trusted: str) -> bool:
        return bool(trusted) and self._list_requests(folder, file, user).digest == trusted

    def list_rules(self, folder: str, trusted: str) -> tuple[ListedRule, ...]:
        user, file = self._read_user().settings, self._read_folder(folder)
        is_trusted = self._is_trusted(folder, file, user, trusted)
        return (
            *(
                _describe_rule(rule, str(self._state_folder.settings))
                for rule in _to_rules(user.rules, "user_settings")
            ),
            *(
                _describe_rule(rule, folder_file.FILE, "" if is_trusted or rule.verdict != "allow" else _UNTRUSTED)
                for rule in _to_rules(file.settings.rules, "folder_settings")
            ),
        )

    def list_problems(self, folder: str) -> tuple[SettingsProblem, ...]:
        refusal = self._read_user().refusal
        problems = self._read_folder(folder).problems if folder else ()
        return (
            problems
            if refusal is None
            else (to_problem(refusal, str(self._state_folder.settings), keeps_last=True), *problems)
        )

    def read(self, place: Place, folder: str, trusted: str) -> ShownSettings:
        path = _get_path(self._state_folder, place, folder)
        file = file_editor.read_source(place, self._state_folder.settings, folder)
        problems = self.list_problems(folder if place == "folder" else "")
        in_file = tuple(problem for problem in problems if (problem.file == folder_file.FILE) == (place == "folder"))
        effective: Any = self._read_user().settings if place == "user" else self.read_effective(folder, trusted)
        return ShownSettings(
            path=str(path),
            digest=file_editor.compute_digest(file),
            values={} if in_file or file is None else file_editor.mask_settings(parse_toml(file, str(path))),
            holding=file_editor.mask_settings(msgspec.to_builtins(effective)),
            json_schema=file_editor.build_json_schema(place),
            problems=in_file,
        )

    def write(self, place: Place, folder: str, changes: Mapping[str, Any], digest: str) -> WrittenSettings:
        path = _get_path(self._state_folder, place, folder)
        before = file_editor.read_source(place, self._state_folder.settings, folder)
        if file_editor.compute_digest(before) != digest:
            raise Refusal(
                "conflict",
                f"{path} has changed since it was read.",
                field="digest",
                hint="Read it again with get_settings, and send the change with the new digest.",
            )
        merged = file_editor.merge_changes(before or b"", changes, place, str(path))
        if place == "user":
            self._on_change(apply_environment(file_editor.parse_user_settings(merged.source, path), self._environment))
        file_editor.write_source(place, self._state_folder.settings, folder, before, merged.source)
        self._expire(folder if place == "folder" else "")
        return WrittenSettings(
            place=place,
            folder=folder,
            path=str(path),
            digest=file_editor.compute_digest(merged.source),
            keys=merged.keys,
            before=before,
        )

    def restore(self, written: WrittenSettings) -> None:
        present = file_editor.read_source(written.place, self._state_folder.settings, written.folder)
        file_editor.write_source(written.place, self._state_folder.settings, written.folder, present, written.before)
        self._expire(written.folder if written.place == "folder" else "")
        if written.place == "user":
            self._on_change(self.read_user())

    def _expire(self, folder: str) -> None:
        """Read the folder's file again at the next use; with an empty folder the user's."""
        if folder:
            if folder in self._folders:
                self._folders[folder] = self._folders[folder]._replace(settled=False)
        elif self._user is not None:
            self._user = self._user._replace(settled=False)

    def _list_requests(self, folder: str, file: FolderFile, user: Settings) -> RequestedPermissions:
        roster = self._definitions.read_roster(folder)
        cached = self._requests.get(folder)
        programs = folder_file.list_programs(folder, file)
        if cached is None or cached[0] is not user or cached[1] is not file or cached[2:4] != (roster.hash, programs):
            requests = folder_file.list_requested_permissions(file, roster.definitions, user, programs)
            cached = self._requests[folder] = (user, file, roster.hash, programs, requests)
        return cached[4]

    def _read_user(self) -> _User:
        """Return the user's settings. While the file is invalid, the last valid settings apply."""
        began, stamp = time.time_ns(), _read_stamp(self._state_folder.settings, follow=True)
        former = self._user
        if former is not None and former.settled and former.stamp == stamp:
            return former
        try:
            settings, refusal = (
                apply_environment(read_user_settings(self._state_folder.settings), self._environment),
                None,
            )
            if former is not None and settings != former.settings:
                self._on_change(settings)
        except Refusal as error:
            settings, refusal = (former.settings if former is not None else Settings()), error
        self._user = _User(stamp, _is_settled(stamp, began), settings, refusal)
        return self._user

    def _read_folder(self, folder: str) -> FolderFile:
        began, stamp = time.time_ns(), _read_stamp(Path(folder) / folder_file.FILE)
        former = self._folders.get(folder)
        if former is not None and former.settled and former.stamp == stamp:
            return former.file
        file = folder_file.read_folder_file(folder)
        if former is not None:
            file = file.keep_last_valid(former.file)
            # Callers compare files by identity, so an equal file stays the same object.
            file = former.file if file == former.file else file
        self._folders[folder] = _Folder(stamp, _is_settled(stamp, began), file)
        return file


def _combine(user: Settings, file: FolderFile, *, is_trusted: bool, was_trusted: bool) -> Effective:
    """Combine the settings of the user and a folder. `was_trusted` states that a person trusted earlier requests."""
    limit = _find_mode_limit(file, user, trusted=is_trusted)
    names = {server.name for server in user.servers}
    return Effective(
        trusted=is_trusted,
        rules=(
            *_to_rules(user.rules, "user_settings"),
            *(
                rule
                for rule in _to_rules(file.settings.rules, "folder_settings")
                if is_trusted or rule.verdict != "allow"
            ),
        ),
        servers=(
            *user.servers,
            *(server for server in file.settings.servers if is_trusted and server.name not in names),
        ),
        # The user's hooks see the calls that the folder's hooks have rewritten.
        hooks=(*(file.settings.hooks if is_trusted else ()), *user.hooks),
        # Ending the trust by changing a file must not remove the folder's hooks.
        held_back=file.settings.hooks if was_trusted and not is_trusted else (),
        permission_mode=limit,
        usual_mode=limit if limit is not None and file.settings.permission_mode is not None else user.permission_mode,
        withheld=not is_trusted
        and (was_trusted or bool(folder_file.list_requested_permissions(file, (), user).digest)),
        shell=folder_file.apply_shell_limits(file, user.shell, trusted=is_trusted),
        context=file.settings.context or user.context,
        retry=user.retry,
        fallback=user.fallback,
    )


def _get_path(state_folder: StateFolder, place: Place, folder: str) -> Path:
    return state_folder.settings if place == "user" else Path(folder) / folder_file.FILE


def _read_stamp(path: Path, *, follow: bool = False) -> _FileStamp | None:
    """Return the stamp of a file; None if there is no file."""
    try:
        status = path.stat(follow_symlinks=follow)
    except OSError:
        return None
    return _FileStamp(status.st_ino, status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def _is_settled(stamp: _FileStamp | None, began: int) -> bool:
    return stamp is None or stamp.changed < began - _SETTLED_NS


def _find_mode_limit(file: FolderFile, user: Settings, *, trusted: bool) -> PermissionMode | None:
    """Return the widest permission mode in the folder; None for no limit."""
    # An invalid file without an earlier valid one may be meant to narrow: ask about every call until it is fixed.
    if file.problems and not file.keeps_last:
        return "ask"
    mode = file.settings.permission_mode
    return mode if mode is not None and (trusted or narrow_mode(mode, user.permission_mode) == mode) else None


def _to_rules(entries: tuple[RuleEntry, ...], scope: RuleScope) -> tuple[Rule, ...]:
    """Convert entries to rules. Their ids are hashes of the entries, so every process derives the same ids."""
    return tuple(
        Rule(
            rule_id=f"{scope}-{hashlib.sha256(msgspec.json.encode(entry)).hexdigest()[:16]}",
            matcher=to_stored_matcher(entry.matcher),
            verdict=entry.verdict,
            scope=scope,
        )
        for entry in entries
    )


def _describe_rule(rule: Rule, source: str, held_back: str = "") -> ListedRule:
    return ListedRule(
        rule_id=rule.rule_id,
        matcher=rule.matcher,
        verdict=rule.verdict,
        scope=rule.scope,
        source=source,
        held_back=held_back,
    )
