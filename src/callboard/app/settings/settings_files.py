"""The settings that hold, from files that are read again whenever they changed."""

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
    Asked,
    Effective,
    Hook,
    Place,
    RuleEntry,
    Server,
    Settings,
    SettingsProblem,
    StandingRule,
)
from callboard.contracts.tool_names import stored_matcher
from callboard.control.decision_inputs import narrow_mode

from ..state_folder import StateFolder
from . import file_editor
from . import folder_file as folder_settings
from .folder_file import FolderFile, Program
from .loader import apply_environment, read_user_settings

#: A file that changed this shortly before it was read may change again without another time stamp, in nanoseconds.
_SETTLED = 2_000_000_000
_UNTRUSTED = "the folder is not trusted for what its files ask for now"


class _FileStamp(NamedTuple):
    """What changes with a file: None for one that is not there."""

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
    """Implements the port `SettingsBook`. `changed` receives the user's settings when they are written here or a look finds
    the file edited. It refuses those that cannot be used: nothing is written then, and the former ones stay."""

    def __init__(
        self,
        home: StateFolder,
        environment: Mapping[str, str],
        definitions: Definitions,
        changed: Callable[[Settings], None] = lambda _: None,
    ) -> None:
        self._home = home
        self._environment = environment
        self._definitions = definitions
        self._changed = changed
        self._user: _User | None = None
        self._folders: dict[str, _Folder] = {}
        self._holding: dict[str, tuple[Settings, FolderFile, bool, Effective]] = {}
        self._widening: dict[str, tuple[Settings, FolderFile, str, tuple[Program, ...], Asked]] = {}
        # What the process starts with: a later look finds what was edited since.
        self._read_user()

    def user(self) -> Settings:
        found = self._read_user()
        if found.refusal is not None:
            raise found.refusal
        return found.settings

    def is_users(self, one: Server | Hook) -> bool:
        """True for a server or a hook that stands in the user's own settings."""
        user = self._read_user().settings
        return one in user.servers or one in user.hooks

    def asked(self, folder: str) -> Asked:
        return self._asked(folder, self._file(folder), self._read_user().settings)

    def effective(self, folder: str, trusted: str) -> Effective:
        user, file = self._read_user().settings, self._file(folder)
        holds = bool(trusted) and self._asked(folder, file, user).digest == trusted
        kept = self._holding.get(folder)
        # Every decision asks, and files seldom change: what was read once is the same object until they do.
        was = bool(trusted)
        if kept is None or kept[0] is not user or kept[1] is not file or (kept[2], kept[3].trusted) != (was, holds):
            kept = self._holding[folder] = (user, file, was, self._effective(user, file, holds=holds, was=was))
        return kept[3]

    def _effective(self, user: Settings, file: FolderFile, *, holds: bool, was: bool) -> Effective:
        bound = _bound(file, user, trusted=holds)
        taken = {server.name for server in user.servers}
        return Effective(
            trusted=holds,
            rules=(
                *_standing(user.rules, "user_settings"),
                *(
                    rule
                    for rule in _standing(file.settings.rules, "folder_settings")
                    if holds or rule.verdict != "allow"
                ),
            ),
            servers=(*user.servers, *(one for one in file.settings.servers if holds and one.name not in taken)),
            # The person's own see what a folder's made of a call.
            hooks=(*(file.settings.hooks if holds else ()), *user.hooks),
            # Whoever could make a folder's trust end by changing a file must not be rid of its hooks by that.
            held_back=file.settings.hooks if was and not holds else (),
            permission_mode=bound,
            usual_mode=bound
            if bound is not None and file.settings.permission_mode is not None
            else user.permission_mode,
            withheld=not holds and (was or bool(folder_settings.list_widenings(file, (), user).digest)),
            shell=folder_settings.apply_shell_limits(file, user.shell, trusted=holds),
            context=file.settings.context or user.context,
            retry=user.retry,
            fallback=user.fallback,
        )

    def rules(self, folder: str, trusted: str) -> tuple[StandingRule, ...]:
        user, file = self._read_user().settings, self._file(folder)
        holds = bool(trusted) and self._asked(folder, file, user).digest == trusted
        mine, theirs = _standing(user.rules, "user_settings"), _standing(file.settings.rules, "folder_settings")
        return (
            *(_told(rule, str(self._home.settings)) for rule in mine),
            *(
                _told(rule, folder_settings.FILE, "" if holds or rule.verdict != "allow" else _UNTRUSTED)
                for rule in theirs
            ),
        )

    def problems(self, folder: str) -> tuple[SettingsProblem, ...]:
        refusal = self._read_user().refusal
        own = self._file(folder).problems if folder else ()
        return (*(() if refusal is None else (_problem(refusal, self._home.settings),)), *own)

    def read(self, place: Place, folder: str, trusted: str) -> ShownSettings:
        path = _path(self._home, place, folder)
        file = file_editor.read_source(place, self._home.settings, folder)
        problems = self.problems(folder if place == "folder" else "")
        mine = tuple(one for one in problems if (one.file == folder_settings.FILE) == (place == "folder"))
        holding: Any = self._read_user().settings if place == "user" else self.effective(folder, trusted)
        return ShownSettings(
            path=str(path),
            digest=file_editor.compute_digest(file),
            values={} if mine or file is None else file_editor.mask_secrets(file_editor.tables(file, str(path))),
            holding=file_editor.mask_secrets(msgspec.to_builtins(holding)),
            json_schema=file_editor.json_schema(place),
            problems=mine,
        )

    def write(self, place: Place, folder: str, changes: Mapping[str, Any], digest: str) -> WrittenSettings:
        path = _path(self._home, place, folder)
        before = file_editor.read_source(place, self._home.settings, folder)
        if file_editor.compute_digest(before) != digest:
            raise Refusal(
                "conflict",
                f"{path} is not as it was read: somebody changed it meanwhile.",
                field="digest",
                hint="Read it again with get_settings, and send the change with its digest.",
            )
        made = file_editor.merge_changes(before or b"", changes, place, str(path))
        if place == "user":
            self._changed(apply_environment(file_editor.parse_user_settings(made.source, path), self._environment))
        file_editor.write_source(place, self._home.settings, folder, before, made.source)
        self._forget(folder if place == "folder" else "")
        return WrittenSettings(
            place=place,
            folder=folder,
            path=str(path),
            digest=hashlib.sha256(made.source).hexdigest(),
            keys=made.keys,
            before=before,
        )

    def put_back(self, written: WrittenSettings) -> None:
        now = file_editor.read_source(written.place, self._home.settings, written.folder)
        file_editor.write_source(written.place, self._home.settings, written.folder, now, written.before)
        self._forget(written.folder if written.place == "folder" else "")
        if written.place == "user":
            self._changed(self.user())

    def _forget(self, folder: str) -> None:
        if folder:
            if folder in self._folders:
                self._folders[folder] = self._folders[folder]._replace(settled=False)
        elif self._user is not None:
            self._user = self._user._replace(settled=False)

    def _asked(self, folder: str, file: FolderFile, user: Settings) -> Asked:
        roster = self._definitions.roster(folder)
        kept = self._widening.get(folder)
        programs = folder_settings.list_programs(folder, file)
        if kept is None or kept[0] is not user or kept[1] is not file or kept[2:4] != (roster.hash, programs):
            asked = folder_settings.list_widenings(file, roster.definitions, user, programs)
            kept = self._widening[folder] = (user, file, roster.hash, programs, asked)
        return kept[4]

    def _read_user(self) -> _User:
        """What the file says now. While it cannot be read, what it said before holds: a slip of the pen takes no rule away."""
        began, stamp = time.time_ns(), _stamp(self._home.settings, follow=True)
        kept = self._user
        if kept is not None and kept.settled and kept.stamp == stamp:
            return kept
        try:
            settings, refusal = apply_environment(read_user_settings(self._home.settings), self._environment), None
            if kept is not None and settings != kept.settings:
                # Edited by hand, or written here: whoever works with the settings takes the new ones.
                self._changed(settings)
        except Refusal as error:
            settings, refusal = (kept.settings if kept is not None else Settings()), error
        self._user = _User(stamp, _is_settled(stamp, began), settings, refusal)
        return self._user

    def _file(self, folder: str) -> FolderFile:
        began, stamp = time.time_ns(), _stamp(Path(folder) / folder_settings.FILE)
        kept = self._folders.get(folder)
        if kept is None or not kept.settled or kept.stamp != stamp:
            file = folder_settings.read_folder_file(folder)
            file = file if kept is None else file.keep_last_valid(kept.file)
            # Who compares files by identity sees a change only where there is one.
            file = kept.file if kept is not None and file == kept.file else file
            kept = self._folders[folder] = _Folder(stamp, _is_settled(stamp, began), file)
        return kept.file


def _path(home: StateFolder, place: Place, folder: str) -> Path:
    return home.settings if place == "user" else Path(folder) / folder_settings.FILE


def _stamp(path: Path, *, follow: bool = False) -> _FileStamp | None:
    try:
        of = path.stat(follow_symlinks=follow)
    except OSError:
        return None
    return _FileStamp(of.st_ino, of.st_mode, of.st_size, of.st_mtime_ns, of.st_ctime_ns)


def _is_settled(stamp: _FileStamp | None, began: int) -> bool:
    return stamp is None or stamp.changed < began - _SETTLED


def _bound(file: FolderFile, user: Settings, *, trusted: bool) -> PermissionMode | None:
    """The widest mode that anything works under there. An invalid file without a valid one before it may have meant to narrow:
    until it is fixed everything is asked about."""
    if file.problems and not file.keeps_last:
        return "ask"
    mode = file.settings.permission_mode
    return mode if mode is not None and (trusted or narrow_mode(mode, user.permission_mode) == mode) else None


def _standing(entries: tuple[RuleEntry, ...], scope: RuleScope) -> tuple[Rule, ...]:
    """The entries as rules. Their ids are those of what they say, so that they are the same in every process."""
    return tuple(
        Rule(
            rule_id=f"{scope}-{hashlib.sha256(msgspec.json.encode(one)).hexdigest()[:16]}",
            matcher=stored_matcher(one.matcher),
            verdict=one.verdict,
            scope=scope,
        )
        for one in entries
    )


def _told(rule: Rule, source: str, held_back: str = "") -> StandingRule:
    return StandingRule(
        rule_id=rule.rule_id,
        matcher=rule.matcher,
        verdict=rule.verdict,
        scope=rule.scope,
        source=source,
        held_back=held_back,
    )


def _problem(refusal: Refusal, path: Path) -> SettingsProblem:
    problem = refusal.problem
    return SettingsProblem(
        file=str(path), message=problem.message, field=problem.field, hint=problem.hint, keeps_last=True
    )
