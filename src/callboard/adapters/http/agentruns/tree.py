"""The files of an opened folder. Every step is taken relative to the folder before it and follows no symlink, so that nothing
outside is told, whatever is moved meanwhile."""

from __future__ import annotations

import os
import stat
from collections import deque
from typing import Literal

import msgspec

from callboard.contracts.errors import Refusal

#: Never told: what version control and Callboard keep.
HIDDEN = frozenset({".git", ".hg", ".svn", ".jj", ".callboard"})
#: So many entries are told at most, the upper levels first.
MOST_ENTRIES = 2000
#: So many entries of one folder are looked at.
MOST_LOOKED_AT = 10_000
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Entry(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A file, folder or link by its name. `size` is a file's, in bytes. `children` are a folder's where they are told;
    `truncated` says that there are more."""

    name: str
    path: str
    type: Literal["file", "folder", "link", "other"]
    size: int = 0
    children: list[Entry] | None = None
    truncated: bool = False


class Tree(msgspec.Struct, frozen=True, kw_only=True):
    """The entries of a folder and of those below it. `path` is relative to `project_root`."""

    project_root: str
    path: str
    entries: list[Entry]
    truncated: bool


def read_tree(root: str, path: str, depth: int) -> Tree:
    """The files below `path`. Raises Refusal `path_denied` where it leads out of the root or through a link, `no_folder`
    where it is no folder."""
    parts = _parts(path)
    top = Entry(name="", path="/".join(parts), type="folder")
    room = _list(_open(root, parts), top, MOST_ENTRIES)
    waiting = deque((child, [*parts, child.name], 2) for child in top.children or ())
    while waiting:
        entry, names, level = waiting.popleft()
        if entry.type != "folder" or level > depth or room <= 0:
            continue
        try:
            folder = _open(root, names)
        except Refusal:
            # It went, or became a link, while the rest was looked at.
            continue
        room = _list(folder, entry, room)
        waiting.extend((child, [*names, child.name], level + 1) for child in entry.children or ())
    return Tree(project_root=root, path=top.path, entries=top.children or [], truncated=top.truncated or room <= 0)


def _list(folder: int, entry: Entry, room: int) -> int:
    """Adds the folder's entries as far as there is room, and closes it; returns the room that is left."""
    found: list[Entry] = []
    try:
        with os.scandir(folder) as names:
            for looked_at, one in enumerate(names):
                if looked_at >= MOST_LOOKED_AT:
                    entry.truncated = True
                    break
                if one.name not in HIDDEN:
                    found.append(_entry(one, f"{entry.path}/{one.name}" if entry.path else one.name))
    finally:
        os.close(folder)
    found.sort(key=lambda child: (child.type != "folder", child.name))
    if len(found) > room:
        entry.truncated = True
    entry.children = found[: max(0, room)]
    return room - len(found)


def _entry(one: os.DirEntry[str], path: str) -> Entry:
    name, path = _printable(one.name), _printable(path)
    try:
        found = one.stat(follow_symlinks=False)
    except OSError:
        return Entry(name=name, path=path, type="other")
    if stat.S_ISLNK(found.st_mode):
        return Entry(name=name, path=path, type="link")
    if stat.S_ISDIR(found.st_mode):
        return Entry(name=name, path=path, type="folder")
    if stat.S_ISREG(found.st_mode):
        return Entry(name=name, path=path, type="file", size=found.st_size)
    return Entry(name=name, path=path, type="other")


def _printable(name: str) -> str:
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _parts(path: str) -> list[str]:
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if path.startswith("/") or ".." in parts or "\0" in path or any(part in HIDDEN for part in parts):
        raise _denied(path)
    return parts


def _open(root: str, parts: list[str]) -> int:
    try:
        folder = os.open(root, _FOLDER)
    except OSError as error:
        raise Refusal("no_folder", f"The folder {root} is not there any more.", field="project_root") from error
    for part in parts:
        inner = _opened(folder, part)
        linked = inner is None and _is_link(folder, part)
        os.close(folder)
        if inner is None:
            if linked:
                raise _denied("/".join(parts))
            raise Refusal("no_folder", f"{'/'.join(parts)} is no folder in {root}.", field="path")
        folder = inner
    return folder


def _opened(folder: int, name: str) -> int | None:
    try:
        return os.open(name, _FOLDER, dir_fd=folder)
    except (OSError, ValueError):
        return None


def _is_link(folder: int, name: str) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except (OSError, ValueError):
        return False


def _denied(path: str) -> Refusal:
    return Refusal(
        "path_denied",
        f"{path[:200]} is not a path within the folder.",
        field="path",
        hint="Give a path relative to project_root, without links on the way.",
    )
