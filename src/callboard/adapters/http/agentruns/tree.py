"""Files of an open folder.

Each folder is opened relative to its parent and without symlinks, so no file outside is listed even if folders are moved.
"""

from __future__ import annotations

import os
import stat
from collections import deque
from typing import Literal

import msgspec

from callboard.contracts.errors import Refusal

#: Data of version control and of Callboard, which is never listed.
HIDDEN = frozenset({".git", ".hg", ".svn", ".jj", ".callboard"})
#: The most entries of an answer, upper levels first.
MAX_ENTRIES = 2000
#: The most entries read from one folder.
MAX_READ_ENTRIES = 10_000
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Entry(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A file, folder or link.

    `size` is the size of a file in bytes. `children` are a folder's entries if listed; `truncated` means that some are
    missing.
    """

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
    """List the files below `path`, a folder relative to `root`.

    Args:
        depth: The number of levels to list.
    Raises:
        Refusal: `path_denied` if the path leads out of the root or through a link, `no_folder` if it is not a folder.
    """
    parts = _split_path(path)
    top = Entry(name="", path="/".join(parts), type="folder")
    remaining = _list(_open(root, parts), top, MAX_ENTRIES)
    queue = deque((child, [*parts, child.name], 2) for child in top.children or ())
    while queue:
        entry, names, level = queue.popleft()
        if entry.type != "folder" or level > depth or remaining <= 0:
            continue
        try:
            folder = _open(root, names)
        except Refusal:
            # The folder was deleted or became a link in the meantime.
            continue
        remaining = _list(folder, entry, remaining)
        queue.extend((child, [*names, child.name], level + 1) for child in entry.children or ())
    return Tree(project_root=root, path=top.path, entries=top.children or [], truncated=top.truncated or remaining <= 0)


def _list(folder: int, entry: Entry, remaining: int) -> int:
    """Add at most `remaining` entries of the folder and close it. Return how many more fit."""
    children: list[Entry] = []
    try:
        with os.scandir(folder) as files:
            for number, file in enumerate(files):
                if number >= MAX_READ_ENTRIES:
                    entry.truncated = True
                    break
                if file.name not in HIDDEN:
                    children.append(_build_entry(file, f"{entry.path}/{file.name}" if entry.path else file.name))
    finally:
        os.close(folder)
    children.sort(key=lambda child: (child.type != "folder", child.name))
    if len(children) > remaining:
        entry.truncated = True
    entry.children = children[: max(0, remaining)]
    return remaining - len(children)


def _build_entry(file: os.DirEntry[str], path: str) -> Entry:
    name, path = _to_printable(file.name), _to_printable(path)
    try:
        status = file.stat(follow_symlinks=False)
    except OSError:
        return Entry(name=name, path=path, type="other")
    if stat.S_ISLNK(status.st_mode):
        return Entry(name=name, path=path, type="link")
    if stat.S_ISDIR(status.st_mode):
        return Entry(name=name, path=path, type="folder")
    if stat.S_ISREG(status.st_mode):
        return Entry(name=name, path=path, type="file", size=status.st_size)
    return Entry(name=name, path=path, type="other")


def _to_printable(name: str) -> str:
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _split_path(path: str) -> list[str]:
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if path.startswith("/") or ".." in parts or "\0" in path or any(part in HIDDEN for part in parts):
        raise _build_refusal(path)
    return parts


def _open(root: str, parts: list[str]) -> int:
    try:
        folder = os.open(root, _FOLDER)
    except OSError as error:
        raise Refusal(
            "no_folder",
            f"The folder {root} no longer exists.",
            field="project_root",
            hint="Restore the folder, or open another one.",
        ) from error
    for part in parts:
        inner = _open_inner(folder, part)
        is_link = inner is None and _is_link(folder, part)
        os.close(folder)
        if inner is None:
            if is_link:
                raise _build_refusal("/".join(parts))
            raise Refusal(
                "no_folder",
                f"{'/'.join(parts)} is not a folder in {root}.",
                field="path",
                hint="Send the path of a folder. Omit path for the top folder.",
            )
        folder = inner
    return folder


def _open_inner(folder: int, name: str) -> int | None:
    try:
        return os.open(name, _FOLDER, dir_fd=folder)
    except (OSError, ValueError):
        return None


def _is_link(folder: int, name: str) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except (OSError, ValueError):
        return False


def _build_refusal(path: str) -> Refusal:
    return Refusal(
        "path_denied",
        f"{path[:200]} is not a path within the folder.",
        field="path",
        hint="Send a path relative to project_root, without symbolic links.",
    )
