"""Walk over a folder's files in path order, without links, .git and ignored files."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from typing import NamedTuple

from ..files.handles import Folder, list_kinds, open_regular
from ..files.paths import PathDenied
from . import ignore

MAX_DEPTH = 100
#: File that marks a virtual environment.
_VENV_MARKER = "pyvenv.cfg"
#: Patterns that git ignores in one repository only.
_EXCLUDE = ".git/info/exclude"

_Patterns = list[tuple[int, tuple[ignore.Pattern, ...]]]


class File(NamedTuple):
    """A file of the walk. `handle` is the handle of its folder, valid until the next step."""

    path: str
    handle: int
    name: str


class TimeoutReachedError(Exception):
    """The walk exceeded its time."""


class Walk:
    """A walk from `path` down, until a time of the monotonic clock. Skips folders named in `generated`
    and, if any are, virtual environments.
    """

    def __init__(self, folder: Folder, path: str, until: float, generated: frozenset[str] = frozenset()) -> None:
        self._folder = folder
        self._path = path
        self._until = until
        self._generated = generated
        self.unreadable = 0

    def files(self) -> Iterator[File]:
        """Yield the files. Raises PathDenied, FileNotFoundError, NotADirectoryError, TimeoutReachedError."""
        status = self._folder.read_status(self._path)
        if status is None:
            raise FileNotFoundError(self._path)
        if stat.S_ISREG(status.st_mode):
            with self._folder.open_parent(self._path) as (handle, name):
                yield File(self._path, handle, name)
            return
        names = self._path.split("/") if self._path else []
        with self._folder.open_directory(self._path) as handle:
            yield from self._walk_folder(handle, names, self._read_patterns_above(names))

    def check_time(self) -> None:
        """Raise TimeoutReachedError after the deadline."""
        if time.monotonic() > self._until:
            raise TimeoutReachedError

    def _walk_folder(self, handle: int, names: list[str], patterns: _Patterns) -> Iterator[File]:
        self.check_time()
        patterns_here = _read_patterns(handle)
        patterns = [*patterns, (len(names), patterns_here)] if patterns_here else patterns
        listed = self._list(handle)
        if self._generated and any(name == _VENV_MARKER for name, _ in listed):
            return
        prefix = "".join(f"{name}/" for name in names)
        for name, kind in listed:
            if not kind or name == ".git":
                continue
            is_folder = kind == "d"
            inner_names = [*names, name]
            if patterns and ignore.is_ignored(patterns, inner_names, folder=is_folder):
                continue
            if is_folder and name in self._generated:
                continue
            if not is_folder:
                path = prefix + name
                if not self._folder.find_private(path):
                    yield File(path, handle, name)
            elif len(inner_names) < MAX_DEPTH:
                yield from self._enter_folder(handle, inner_names, patterns)
            else:
                self.unreadable += 1

    def _enter_folder(self, handle: int, names: list[str], patterns: _Patterns) -> Iterator[File]:
        try:
            inner = self._folder.enter(handle, names[-1], "/".join(names))
        except (PathDenied, OSError):
            self.unreadable += 1
            return
        try:
            yield from self._walk_folder(inner, names, patterns)
        finally:
            os.close(inner)

    def _list(self, handle: int) -> list[tuple[str, str]]:
        try:
            return list_kinds(handle)
        except OSError:
            self.unreadable += 1
            return []

    def _read_patterns_above(self, names: list[str]) -> _Patterns:
        """Return the patterns on the path to the start; none if they ignore the start itself."""
        patterns = self._read_repository_patterns()
        for depth in range(len(names)):
            with self._folder.open_directory("/".join(names[:depth])) as handle:
                patterns_here = _read_patterns(handle)
            patterns = [*patterns, (depth, patterns_here)] if patterns_here else patterns
            if ignore.is_ignored(patterns, names[: depth + 1], folder=True):
                return []
        return patterns

    def _read_repository_patterns(self) -> _Patterns:
        try:
            data = self._folder.read(_EXCLUDE, ignore.MAX_FILE_BYTES)
        except (OSError, PathDenied):
            return []
        return [(0, ignore.parse(data.decode("utf-8", "replace")))] if data else []


def _read_patterns(handle: int) -> tuple[ignore.Pattern, ...]:
    try:
        descriptor = open_regular(handle, ignore.FILE, ignore.FILE)
    except (OSError, PathDenied):
        return ()
    with os.fdopen(descriptor, "rb") as file:
        return ignore.parse(file.read(ignore.MAX_FILE_BYTES).decode("utf-8", "replace"))
