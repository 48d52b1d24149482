"""Programs that a git repository's settings name, read without running git."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from typing import Final, NamedTuple

#: Maximum size of a settings file, in bytes. A larger one counts as naming programs.
_MAX_SETTINGS_BYTES: Final = 1 << 20
_SECTION: Final = re.compile(r'\[\s*(?P<name>[\w.-]+)\s*(?:"(?P<sub>(?:[^"\\]|\\.)*)")?\s*\](?P<rest>.*)')
_KEY: Final = re.compile(r"(?P<key>[A-Za-z][\w-]*)\s*(?:=\s*(?P<value>.*))?")
_FILES: Final = ("config", "config.worktree")
#: Keys that git writes itself and that name no program. Agents must not leave a repository with other keys.
_HARMLESS: Final[dict[str, frozenset[str]]] = {
    "core": frozenset(
        """repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode symlinks autocrlf eol
        safecrlf quotepath abbrev compression sharedrepository untrackedcache splitindex longpaths preloadindex
        sparsecheckout sparsecheckoutcone commentchar whitespace""".split()
    ),
    "remote": frozenset("url pushurl fetch push tagopt promisor partialclonefilter prune mirror".split()),
    "branch": frozenset("remote merge rebase description".split()),
    "submodule": frozenset("url active".split()),
    "extensions": frozenset("worktreeconfig objectformat refstorage partialclone".split()),
    "user": frozenset("name email".split()),
    "init": frozenset(["defaultbranch"]),
    "pull": frozenset("rebase ff".split()),
    "push": frozenset("default autosetupremote".split()),
    "lfs": frozenset(["repositoryformatversion"]),
}
#: Ends of keys that name a program, a folder of programs, or more settings.
_PROGRAM_KEY: Final = re.compile(
    r"(hookspath|fsmonitor|path|program|command|cmd|clean|smudge|process|driver|textconv|editor|pager|helper|external"
    r"|sshcommand|askpass|uploadpack|receivepack|attributesfile)$"
)
#: Keys whose value is a path, absolute or relative.
_PATH_KEYS: Final = frozenset({"hookspath", "path", "attributesfile"})


class Setting(NamedTuple):
    """A setting. `section` and `key` are in lower case."""

    section: str
    subsection: str
    key: str
    value: str


def read_settings(path: str) -> Iterator[Setting] | None:
    """Return the settings of a file; None if it is missing, unreadable or too large."""
    text = _read_text(path)
    return None if text is None else iter(_parse_settings(text))


def find_store(path: str) -> str:
    """Return the repository folder of a `.git` folder or `gitdir:` file; empty for neither."""
    if os.path.isdir(path):  # noqa: PTH112
        return os.path.realpath(path) if os.path.islink(path) else path  # noqa: PTH114
    content = (_read_text(path) or "").strip()
    if not content.startswith("gitdir:"):
        return ""
    return _join(os.path.dirname(path), content.removeprefix("gitdir:").strip())  # noqa: PTH120


def find_common_store(store: str) -> str:
    """Return the folder that a worktree's repository shares with others; `store` for other repositories."""
    content = (_read_text(f"{store}/commondir") or "").strip()
    return _join(store, content) if content else store


def list_program_files(store: str) -> tuple[str, ...]:
    """Return the files of a repository that could make git run a program, relative to `store`."""
    files = [name for name in _FILES if os.path.lexists(f"{store}/{name}") and not _is_harmless(f"{store}/{name}")]
    try:
        with os.scandir(f"{store}/hooks") as entries:
            has_hooks = any(not entry.name.endswith(".sample") for entry in entries)
    except OSError:
        has_hooks = os.path.lexists(f"{store}/hooks") and not os.path.isdir(f"{store}/hooks")  # noqa: PTH112
    return (*files, *(("hooks",) if has_hooks else ()))


def list_targets(root: str, store: str, user_home: str = "") -> tuple[str, ...]:
    """Return the absolute paths that the settings of a repository name as programs, hooks or more settings.

    Args:
        root: Top of the working tree. Relative paths of programs start there.
        store: Folder of the repository.
        user_home: The user's home. Its git settings apply in every repository.
    """
    files = [f"{setting}/{name}" for setting in dict.fromkeys((store, find_common_store(store))) for name in _FILES]
    if user_home:
        files += [f"{user_home}/.gitconfig", f"{user_home}/.config/git/config"]
    targets: dict[str, None] = {}
    for file in files:
        for setting in read_settings(file) or ():
            base = os.path.dirname(file) if setting.section.startswith("include") else root  # noqa: PTH120
            if _PROGRAM_KEY.search(setting.key) or setting.value.startswith("!"):
                targets.update(dict.fromkeys(_list_paths(setting, base)))
    return tuple(targets)


def _list_paths(setting: Setting, base: str) -> Iterator[str]:
    """Yield the paths that a value can name: itself, and words of a command that contain a slash or are files."""
    if setting.key in _PATH_KEYS:
        yield _join(base, setting.value)
    for word in setting.value.removeprefix("!").split():
        path = _join(base, word.strip("'\";"))
        if "/" in word or os.path.isfile(path):  # noqa: PTH113
            yield path


def _is_harmless(path: str) -> bool:
    parsed = read_settings(path)
    return parsed is not None and all(
        setting.key in _HARMLESS.get(setting.section, ())
        and not (setting.key.endswith("url") and "::" in setting.value)
        for setting in parsed
    )


def _parse_settings(text: str) -> list[Setting]:
    parsed: list[Setting] = []
    section, subsection = "", ""
    for line in re.sub(r"\\\r?\n", "", text).splitlines():
        rest = line.strip()
        if header := _SECTION.match(rest):
            section, subsection = header["name"].lower(), header["sub"] or ""
            # In the older spelling `[branch.main]` the subsection follows a dot.
            if "." in section:
                section, _, subsection = section.partition(".")
            rest = header["rest"].strip()
        if not rest or rest[0] in "#;":
            continue
        key = _KEY.fullmatch(rest)
        # Git may understand a line that this parser does not.
        parsed.append(
            Setting("?", "", "?", rest)
            if key is None
            else Setting(section, subsection, key["key"].lower(), (key["value"] or "").strip().strip('"'))
        )
    return parsed


def _read_text(path: str) -> str | None:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or status.st_size > _MAX_SETTINGS_BYTES:
            return None
        return file.read(_MAX_SETTINGS_BYTES).decode("utf-8", "surrogateescape")


def _join(base: str, path: str) -> str:
    return os.path.normpath(os.path.join(base, os.path.expanduser(path)))  # noqa: PTH111, PTH118
