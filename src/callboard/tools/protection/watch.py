"""Protected paths around one command: read-only while it runs, compared after it.

Existing paths are mounted read-only. A mount cannot protect a missing path, and a command can
rename a folder that contains one. So the folder is walked again after the command. New protected
paths in places that the command could write are renamed, so that no program obeys them.
"""

from __future__ import annotations

import os
import stat
import threading
from collections import OrderedDict
from pathlib import Path
from typing import Final, NamedTuple

from ..files.handles import Folder
from ..files.paths import PROTECTED, PathDenied, find_protected
from . import repositories
from .private_paths import PrivatePaths
from .tree import MOST_DEPTH, MOST_ENTRIES, MOST_FOUND, ProtectedPath, tree

ASIDE: Final = ".set-aside"
_BEYOND: Final = f"what is deeper than {MOST_DEPTH} folders or beyond {MOST_ENTRIES:,} entries and {MOST_FOUND:,} names"
_MOST_APPROVED: Final = 1000

_Identity = tuple[int, int]

_NOTHING_PRIVATE: Final = PrivatePaths("", ())

_approved: OrderedDict[str, _Identity] = OrderedDict()
_lock = threading.Lock()


class RenamedPath(NamedTuple):
    """A renamed path, relative to the folder, and its new name; empty if renaming failed."""

    path: str
    name: str


def approve(folder: str, path: str) -> None:
    """Record that a path was written with approval, so that no running command's watch renames it."""
    parts = path.split("/")
    ways = ("/".join(parts[: count + 1]) for count in range(len(parts)))
    full = f"{folder.rstrip('/')}/{next(filter(find_protected, ways), path)}"
    identity = _identity(full)
    if identity is not None:
        with _lock:
            _approved[full] = identity
            _approved.move_to_end(full)
            while len(_approved) > _MOST_APPROVED:
                _approved.popitem(last=False)


def find_guarded(folder: str, path: str) -> str:
    """Return the protected name in a relative path, or the git program that it is; empty for neither."""
    found = find_protected(path)
    if found:
        return found
    full, above = f"{folder.rstrip('/')}/{path}", folder.rstrip("/")
    for part in ("", *path.split("/")[:-1]):
        above = f"{above}/{part}" if part else above
        if os.path.lexists(f"{above}/.git"):
            store = repositories.find_store(f"{above}/.git")
            for target in repositories.list_targets(above, store, str(Path.home())) if store else ():
                if full == target or full.startswith(f"{target}/"):
                    return target[len(folder.rstrip("/")) + 1 :]
    return ""


class Watch:
    """The protected paths of a folder as they are now.

    Attributes:
        kept: Absolute paths to mount read-only, except those of `PROTECTED` at the top.
        unkept: What no mount can protect, in English. Normally empty.
    """

    def __init__(self, folder: str, private: PrivatePaths = _NOTHING_PRIVATE) -> None:
        self._root = folder.rstrip("/")
        self._private = private
        survey = tree(folder).survey()
        self._places = {one.path: one.parent for one in survey.paths}
        self._links: dict[str, str] = {}
        self._identities: set[_Identity] = set()
        self._absent: set[str] = set()
        kept: dict[str, None] = {}
        self.unprotected: tuple[str, ...] = () if survey.is_complete else (_BEYOND,)
        for one in survey.paths:
            self._add(one, kept)
        self.protected = tuple(path for path in sorted(kept) if not self._is_covered(path, kept))

    @property
    def relative_protected(self) -> tuple[str, ...]:
        """The kept paths, relative to the folder."""
        return tuple(path[len(self._root) + 1 :] for path in self.protected)

    def rename_new(self) -> tuple[RenamedPath, ...]:
        """Rename what appeared since. Blocks."""
        survey = tree(self._root).survey()
        wrong = [part for one in survey.paths for part in self._wrong(one)]
        wrong += [path for path in self._absent if os.path.lexists(f"{self._root}/{path}")]
        wrong += self._private.list_new()
        if not wrong:
            return ()
        with Folder(self._root) as folder:
            return tuple(_set_aside(folder, path) for path in dict.fromkeys(wrong))

    def _add(self, one: ProtectedPath, kept: dict[str, None]) -> None:
        full = f"{self._root}/{one.path}"
        try:
            status = os.lstat(full)
        except OSError:
            return
        if stat.S_ISLNK(status.st_mode):
            self._links[one.path] = os.readlink(full)  # noqa: PTH115
            self._keep(os.path.realpath(full), kept)
        elif "/" in one.path or one.path not in PROTECTED:
            self._identities.add((status.st_dev, status.st_ino))
            self._keep(full, kept)
        if _is_repository(one.path):
            store = repositories.find_store(full)
            self._keep(store, kept)
            top = os.path.dirname(full) if find_protected(one.path) else full  # noqa: PTH120
            for target in repositories.list_targets(top, store, str(Path.home())) if store else ():
                if os.path.lexists(target):
                    self._keep(os.path.realpath(target), kept)
                elif target.startswith(f"{self._root}/"):
                    self._absent.add(target[len(self._root) + 1 :])

    def _keep(self, full: str, kept: dict[str, None]) -> None:
        if full.startswith(f"{self._root}/"):
            if full[len(self._root) + 1 :] not in PROTECTED:
                kept[full] = None
        elif full and (full == self._root or self._root.startswith(f"{full.rstrip('/')}/")):
            self.unprotected = (*self.unprotected, f"{full}, which git is set to run programs from,")

    def _is_covered(self, path: str, kept: dict[str, None]) -> bool:
        above = os.path.dirname(path)  # noqa: PTH120
        while len(above) > len(self._root):
            if above in kept or above[len(self._root) + 1 :] in PROTECTED:
                return True
            above = os.path.dirname(above)  # noqa: PTH120
        return False

    def _wrong(self, one: ProtectedPath) -> list[str]:
        """Return the paths to rename for one protected path; none if the command could not have made it."""
        full = f"{self._root}/{one.path}"
        identity = _identity(full)
        if identity is None or one.path in PROTECTED:
            return []
        same_link = one.path in self._links and self._links[one.path] == _link(full)
        same_place = one.path not in self._links and self._places.get(one.path) == one.parent
        with _lock:
            approved = _approved.get(full) == identity
        if same_link or same_place or approved or identity in self._identities:
            return []
        store = repositories.find_store(full) if _is_repository(one.path) else ""
        if not store:
            return [one.path]
        return [
            f"{own[len(self._root) + 1 :]}/{name}"
            for own in dict.fromkeys((store, repositories.find_common_store(store)))
            if own.startswith(f"{self._root}/") and _identity(own) not in self._identities
            for name in repositories.list_program_files(own)
        ]


def _is_repository(path: str) -> bool:
    """Return True for `.git` and for a bare repository, which has any name."""
    return path.rpartition("/")[2].lower() == ".git" or not find_protected(path)


def _set_aside(folder: Folder, path: str) -> RenamedPath:
    try:
        with folder.open_parent(path) as (handle, name):
            for number in range(1, 100):
                other = f"{name}{ASIDE}{f'-{number}' if number > 1 else ''}"
                if not _is_there(handle, other):
                    os.rename(name, other, src_dir_fd=handle, dst_dir_fd=handle)
                    return RenamedPath(path, other)
    except (OSError, PathDenied):
        pass
    return RenamedPath(path, "")


def _is_there(handle: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=handle, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _identity(full: str) -> _Identity | None:
    try:
        status = os.lstat(full)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _link(full: str) -> str | None:
    try:
        return os.readlink(full)  # noqa: PTH115
    except OSError:
        return None
