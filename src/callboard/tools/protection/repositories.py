"""What a git repository names that git would run: read as text, so that nothing of it runs."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from typing import Final, NamedTuple

#: The largest file of settings that is read, in bytes. A repository with a larger one counts as one that names programs.
_LARGEST: Final = 1 << 20
_SECTION: Final = re.compile(r'\[\s*(?P<name>[\w.-]+)\s*(?:"(?P<sub>(?:[^"\\]|\\.)*)")?\s*\](?P<rest>.*)')
_KEY: Final = re.compile(r"(?P<key>[A-Za-z][\w-]*)\s*(?:=\s*(?P<value>.*))?")
_SETTINGS: Final = ("config", "config.worktree")
#: What git writes itself and what names no program. Every other key makes a repository one that an agent must not leave behind.
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
#: Keys that name a program, a folder of programs, or more settings, by how they end.
_RUNS: Final = re.compile(
    r"(hookspath|fsmonitor|path|program|command|cmd|clean|smudge|process|driver|textconv|editor|pager|helper|external"
    r"|sshcommand|askpass|uploadpack|receivepack|attributesfile)$"
)
#: Keys with a value that is a path and nothing else, relative ones included.
_NAMES_PATH: Final = frozenset({"hookspath", "path", "attributesfile"})


class Setting(NamedTuple):
    """One setting. `section` and `key` are in lower case."""

    section: str
    subsection: str
    key: str
    value: str


def read_settings(path: str) -> Iterator[Setting] | None:
    """Return the settings of a file; None for a file that is not there or cannot be read as settings."""
    text = _text(path)
    return None if text is None else iter(_parse(text))


def find_store(path: str) -> str:
    """Return the folder of a repository for its `.git`: the folder itself, or what a `gitdir:` file names. Empty for none."""
    if os.path.isdir(path):  # noqa: PTH112
        return os.path.realpath(path) if os.path.islink(path) else path  # noqa: PTH114
    named = (_text(path) or "").strip()
    if not named.startswith("gitdir:"):
        return ""
    return _join(os.path.dirname(path), named.removeprefix("gitdir:").strip())  # noqa: PTH120


def find_common_store(store: str) -> str:
    """Return the folder that a worktree's repository shares with others; the folder itself where it shares nothing."""
    named = (_text(f"{store}/commondir") or "").strip()
    return _join(store, named) if named else store


def list_program_files(store: str) -> tuple[str, ...]:
    """Return the files of a repository by which git could be made to run something, relative to `store`."""
    found = [name for name in _SETTINGS if os.path.lexists(f"{store}/{name}") and not _is_harmless(f"{store}/{name}")]
    try:
        with os.scandir(f"{store}/hooks") as entries:
            hooks = any(not entry.name.endswith(".sample") for entry in entries)
    except OSError:
        hooks = os.path.lexists(f"{store}/hooks") and not os.path.isdir(f"{store}/hooks")  # noqa: PTH112
    return (*found, *(("hooks",) if hooks else ()))


def list_targets(root: str, store: str, home: str = "") -> tuple[str, ...]:
    """Return the absolute paths that the settings of a repository name as programs, hooks or more settings.

    Args:
        root: The top of the working tree, at which relative paths of programs start.
        store: The folder of the repository.
        home: The person's home. Its own git settings count too, since they apply in every repository.
    """
    files = [f"{one}/{name}" for one in dict.fromkeys((store, find_common_store(store))) for name in _SETTINGS]
    if home:
        files += [f"{home}/.gitconfig", f"{home}/.config/git/config"]
    found: dict[str, None] = {}
    for file in files:
        for one in read_settings(file) or ():
            start = os.path.dirname(file) if one.section.startswith("include") else root  # noqa: PTH120
            if _RUNS.search(one.key) or one.value.startswith("!"):
                found.update(dict.fromkeys(_paths(one, start)))
    return tuple(found)


def _paths(one: Setting, start: str) -> Iterator[str]:
    """The paths that a value can name: itself where it is a path, the words of a command that have a slash or are there."""
    if one.key in _NAMES_PATH:
        yield _join(start, one.value)
    for word in one.value.removeprefix("!").split():
        path = _join(start, word.strip("'\";"))
        if "/" in word or os.path.isfile(path):  # noqa: PTH113
            yield path


def _is_harmless(path: str) -> bool:
    found = read_settings(path)
    return found is not None and all(
        one.key in _HARMLESS.get(one.section, ()) and not (one.key.endswith("url") and "::" in one.value)
        for one in found
    )


def _parse(text: str) -> list[Setting]:
    found: list[Setting] = []
    section, sub = "", ""
    for line in re.sub(r"\\\r?\n", "", text).splitlines():
        rest = line.strip()
        if head := _SECTION.match(rest):
            section, sub = head["name"].lower(), head["sub"] or ""
            # The older spelling `[branch.main]` has its subsection after a dot.
            if "." in section:
                section, _, sub = section.partition(".")
            rest = head["rest"].strip()
        if not rest or rest[0] in "#;":
            continue
        key = _KEY.fullmatch(rest)
        # What cannot be read here may be read by git.
        found.append(
            Setting("?", "", "?", rest)
            if key is None
            else Setting(section, sub, key["key"].lower(), (key["value"] or "").strip().strip('"'))
        )
    return found


def _text(path: str) -> str | None:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(handle, "rb") as opened:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST:
            return None
        return opened.read(_LARGEST).decode("utf-8", "surrogateescape")


def _join(start: str, named: str) -> str:
    return os.path.normpath(os.path.join(start, os.path.expanduser(named)))  # noqa: PTH111, PTH118
