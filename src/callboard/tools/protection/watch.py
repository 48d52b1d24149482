"""Protected paths around one command: read-only while it runs, compared after it.

Existing paths are mounted read-only. A mount cannot protect a missing path, and a command can
rename a parent folder. So the folder is walked again after the command, and new protected paths
are renamed, so that no program uses them.
"""

from __future__ import annotations

import os
import stat
import threading
from collections import OrderedDict
from pathlib import Path
from typing import Final, NamedTuple

from ..files.handles import Folder, exists
from ..files.paths import PROTECTED, PathDenied, find_protected
from . import repositories
from .private_paths import PrivatePaths
from .tree import MAX_DEPTH, MAX_ENTRIES, MAX_PROTECTED, ProtectedPath, get_tree

ASIDE: Final = ".set-aside"
_BEYOND: Final = f"paths deeper than {MAX_DEPTH} folders or beyond {MAX_ENTRIES:,} entries and {MAX_PROTECTED:,} names"
_MAX_APPROVED: Final = 1000

_Identity = tuple[int, int]

_NOTHING_PRIVATE: Final = PrivatePaths("", ())

_approved: OrderedDict[str, _Identity] = OrderedDict()
_lock = threading.Lock()


class RenamedPath(NamedTuple):
    """A renamed path, relative to the folder, and its new name; empty if renaming failed."""

    path: str
    name: str


def approve(folder: str, path: str) -> None:
    """Record an approved write, so that the watch of a running command does not rename the path."""
    parts = path.split("/")
    prefixes = ("/".join(parts[: count + 1]) for count in range(len(parts)))
    full = f"{folder.rstrip('/')}/{next(filter(find_protected, prefixes), path)}"
    identity = _identify(full)
    if identity is not None:
        with _lock:
            _approved[full] = identity
            _approved.move_to_end(full)
            while len(_approved) > _MAX_APPROVED:
                _approved.popitem(last=False)


def find_guarded(folder: str, path: str) -> str:
    """Return the protected name in a relative path, or the program of git that it belongs to; empty for neither."""
    name = find_protected(path)
    if name:
        return name
    full, parent = f"{folder.rstrip('/')}/{path}", folder.rstrip("/")
    for part in ("", *path.split("/")[:-1]):
        parent = f"{parent}/{part}" if part else parent
        if os.path.lexists(f"{parent}/.git"):
            store = repositories.find_store(f"{parent}/.git")
            for target in repositories.list_targets(parent, store, str(Path.home())) if store else ():
                if full == target or full.startswith(f"{target}/"):
                    return target[len(folder.rstrip("/")) + 1 :]
    return ""


class Watch:
    """Current protected paths of a folder.

    Attributes:
        protected: Absolute paths to mount read-only, except the names of `PROTECTED` at the top.
        unprotected: Paths that no mount can protect, in English. Normally empty.
    """

    def __init__(self, folder: str, private: PrivatePaths = _NOTHING_PRIVATE) -> None:
        self._root = folder.rstrip("/")
        self._private = private
        survey = get_tree(folder).survey()
        self._parents = {path.path: path.parent for path in survey.paths}
        self._links: dict[str, str] = {}
        self._identities: set[_Identity] = set()
        self._missing_targets: set[str] = set()
        protected: dict[str, None] = {}
        self.unprotected: tuple[str, ...] = () if survey.is_complete else (_BEYOND,)
        for path in survey.paths:
            self._add(path, protected)
        self.protected = tuple(absolute for absolute in sorted(protected) if not self._is_covered(absolute, protected))

    @property
    def relative_protected(self) -> tuple[str, ...]:
        """The protected paths, relative to the folder."""
        return tuple(path[len(self._root) + 1 :] for path in self.protected)

    def rename_new(self) -> tuple[RenamedPath, ...]:
        """Rename new protected paths. Blocks."""
        survey = get_tree(self._root).survey()
        new = [part for path in survey.paths for part in self._list_new(path)]
        new += [
            relative_path for relative_path in self._missing_targets if os.path.lexists(f"{self._root}/{relative_path}")
        ]
        new += self._private.list_new()
        if not new:
            return ()
        with Folder(self._root) as folder:
            return tuple(_rename(folder, relative_path) for relative_path in dict.fromkeys(new))

    def _add(self, path: ProtectedPath, protected: dict[str, None]) -> None:
        full = f"{self._root}/{path.path}"
        try:
            status = os.lstat(full)
        except OSError:
            return
        if stat.S_ISLNK(status.st_mode):
            self._links[path.path] = os.readlink(full)  # noqa: PTH115
            self._protect(os.path.realpath(full), protected)
        elif "/" in path.path or path.path not in PROTECTED:
            self._identities.add((status.st_dev, status.st_ino))
            self._protect(full, protected)
        if _is_repository(path.path):
            store = repositories.find_store(full)
            self._protect(store, protected)
            root = os.path.dirname(full) if find_protected(path.path) else full  # noqa: PTH120
            for target in repositories.list_targets(root, store, str(Path.home())) if store else ():
                if os.path.lexists(target):
                    self._protect(os.path.realpath(target), protected)
                elif target.startswith(f"{self._root}/"):
                    self._missing_targets.add(target[len(self._root) + 1 :])

    def _protect(self, full: str, protected: dict[str, None]) -> None:
        if full.startswith(f"{self._root}/"):
            if full[len(self._root) + 1 :] not in PROTECTED:
                protected[full] = None
        elif full and (full == self._root or self._root.startswith(f"{full.rstrip('/')}/")):
            self.unprotected = (*self.unprotected, f"{full}, from which git runs programs,")

    def _is_covered(self, path: str, protected: dict[str, None]) -> bool:
        parent = os.path.dirname(path)  # noqa: PTH120
        while len(parent) > len(self._root):
            if parent in protected or parent[len(self._root) + 1 :] in PROTECTED:
                return True
            parent = os.path.dirname(parent)  # noqa: PTH120
        return False

    def _list_new(self, path: ProtectedPath) -> list[str]:
        """Return the paths to rename for a protected path; none if the command could not create it."""
        full = f"{self._root}/{path.path}"
        identity = _identify(full)
        if identity is None or path.path in PROTECTED:
            return []
        same_link = path.path in self._links and self._links[path.path] == _read_link(full)
        same_place = path.path not in self._links and self._parents.get(path.path) == path.parent
        with _lock:
            approved = _approved.get(full) == identity
        if same_link or same_place or approved or identity in self._identities:
            return []
        store = repositories.find_store(full) if _is_repository(path.path) else ""
        if not store:
            return [path.path]
        return [
            f"{repository[len(self._root) + 1 :]}/{name}"
            for repository in dict.fromkeys((store, repositories.find_common_store(store)))
            if repository.startswith(f"{self._root}/") and _identify(repository) not in self._identities
            for name in repositories.list_program_files(repository)
        ]


def _is_repository(path: str) -> bool:
    """Return True for `.git` and for bare repositories, which can have any name."""
    return path.rpartition("/")[2].lower() == ".git" or not find_protected(path)


def _rename(folder: Folder, path: str) -> RenamedPath:
    try:
        with folder.open_parent(path) as (handle, name):
            for number in range(1, 100):
                new_name = f"{name}{ASIDE}{f'-{number}' if number > 1 else ''}"
                if not exists(handle, new_name):
                    os.rename(name, new_name, src_dir_fd=handle, dst_dir_fd=handle)
                    return RenamedPath(path, new_name)
    except (OSError, PathDenied):
        pass
    return RenamedPath(path, "")


def _identify(full: str) -> _Identity | None:
    try:
        status = os.lstat(full)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _read_link(full: str) -> str | None:
    try:
        return os.readlink(full)  # noqa: PTH115
    except OSError:
        return None
