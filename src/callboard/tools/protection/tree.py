"""The bounded walk that finds protected paths at every depth of a folder."""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict
from typing import Final, NamedTuple

from ..files.paths import protected_name

#: How many entries of a folder one walk looks at, how deep it goes, and how many protected paths it returns, at most.
MOST_ENTRIES: Final = 400_000
MOST_DEPTH: Final = 64
MOST_FOUND: Final = 1000
#: Folders of installed packages. In these only repositories are protected: packages carry files of every name.
PACKAGES: Final = frozenset({"node_modules", "site-packages", "dist-packages"})
#: A folder that changed this shortly before it was read may change again without another time stamp, in nanoseconds.
_SETTLED: Final = 2_000_000_000
_MOST_TREES: Final = 8

_Identity = tuple[int, int]


class ProtectedPath(NamedTuple):
    """A protected path: relative to the folder, and the identity of the folder that holds it."""

    path: str
    parent: _Identity


class Survey(NamedTuple):
    """Protected paths of a folder, in order. `whole` is False where a bound ended the walk."""

    paths: tuple[ProtectedPath, ...]
    is_complete: bool


class _ListedFolder(NamedTuple):
    changed: int
    settled: bool
    size: int
    folders: tuple[str, ...]
    marked: tuple[str, ...]
    bare: bool


class Tree:
    """A folder that is walked often. A directory that did not change since is not read again."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._listed: dict[_Identity, _ListedFolder] = {}
        self._lock = threading.Lock()

    def survey(self) -> Survey:
        """Walk the folder. Blocks: about 60 ms for 50,000 files the first time, and 15 ms after that."""
        with self._lock:
            return self._survey()

    def _survey(self) -> Survey:
        found: list[ProtectedPath] = []
        seen: dict[_Identity, _ListedFolder] = {}
        left, whole, ahead = MOST_ENTRIES, True, [("", 0, False)]
        while ahead:
            path, depth, packaged = ahead.pop()
            read = self._read(path)
            if read is None:
                continue
            identity, listed = read
            seen[identity] = listed
            left -= listed.size
            if left < 0 or depth > MOST_DEPTH or len(found) > MOST_FOUND:
                whole = False
                break
            if listed.bare and path:
                # A repository without a working tree: what is below it is its own.
                found.append(ProtectedPath(path, identity))
                continue
            inside = f"{path}/" if path else ""
            marked = [name for name in listed.marked if not packaged or name == ".git"]
            found += [ProtectedPath(f"{inside}{name}", identity) for name in marked]
            skipped = set(marked)
            ahead += [
                (f"{inside}{name}", depth + 1, packaged or name in PACKAGES)
                for name in listed.folders
                if name not in skipped
            ]
        self._listed = seen
        return Survey(tuple(sorted(found)), whole)

    def _read(self, path: str) -> tuple[_Identity, _ListedFolder] | None:
        full = f"{self.root}/{path}" if path else self.root
        began = time.time_ns()
        try:
            status = os.lstat(full)
            identity = status.st_dev, status.st_ino
            kept = self._listed.get(identity)
            if kept is not None and kept.settled and kept.changed == status.st_ctime_ns:
                return identity, kept
            folders, marked, names = list[str](), list[str](), set[str]()
            with os.scandir(full) as entries:
                for entry in entries:
                    name = entry.name
                    names.add(name)
                    # Of `agents` the definitions in it are protected, and those alone.
                    if protected_name(name, parent=path):
                        marked.append(name)
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(name)
        except OSError:
            return None
        listed = _ListedFolder(
            status.st_ctime_ns,
            status.st_ctime_ns < began - _SETTLED,
            len(names),
            tuple(folders),
            tuple(marked),
            "HEAD" in names and ("commondir" in names or names >= {"objects", "refs"}),
        )
        return identity, listed


_trees: OrderedDict[str, Tree] = OrderedDict()
_lock = threading.Lock()


def tree(root: str) -> Tree:
    """Return the tree of a folder, with what is remembered of it."""
    with _lock:
        found = _trees.setdefault(root, Tree(root))
        _trees.move_to_end(root)
        while len(_trees) > _MOST_TREES:
            _trees.popitem(last=False)
    return found
