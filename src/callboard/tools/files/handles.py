"""Files opened from the folder's own directory handle, one component at a time, never through a symbolic link.

A path is walked each time that it is used, and what was opened is what is used: nothing is resolved by name a second time.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from callboard.contracts.facts.reason import ReasonCode

from .paths import PathDenied, display

_NO_FOLLOW = os.O_NOFOLLOW | os.O_CLOEXEC
#: Passing through a folder takes the right to search it, not to list it, where the system knows the difference.
_THROUGH = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | _NO_FOLLOW
_LIST = os.O_RDONLY | os.O_DIRECTORY | _NO_FOLLOW

_KINDS: dict[int, ReasonCode] = {
    stat.S_IFLNK: "link",
    stat.S_IFIFO: "named_pipe",
    stat.S_IFCHR: "character_device",
    stat.S_IFBLK: "block_device",
    stat.S_IFSOCK: "socket",
}


class Folder:
    """The folder of a workspace, open. `hidden` are folders that no tool enters, wherever they are and whatever their name.

    Raises FileNotFoundError or NotADirectoryError where there is no folder, and PathDenied where the folder itself is
    hidden or lies in one that is. To be closed, or used in a `with` statement.
    """

    def __init__(self, path: str, hidden: Sequence[str] = ()) -> None:
        self.path = path
        self._root = os.open(path, _THROUGH)
        self._hidden = {identity for one in hidden if (identity := _identity(one)) is not None}
        # What is not there yet must not be made either.
        self._kept_from = frozenset(one.casefold() for one in hidden)
        self._keeps_inside = any(one.startswith(f"{path.rstrip('/')}/".casefold()) for one in self._kept_from)
        if self._lies_hidden():
            self.close()
            raise PathDenied("kept_by_callboard")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Lets the handle go."""
        os.close(self._root)

    def _lies_hidden(self) -> bool:
        """True where the folder, or one above it, is hidden."""
        handle, below = os.dup(self._root), None
        try:
            while self._hidden:
                found = os.fstat(handle)
                here = (found.st_dev, found.st_ino)
                if here in self._hidden:
                    return True
                if here == below:
                    return False
                above = os.open("..", _THROUGH, dir_fd=handle)
                os.close(handle)
                handle, below = above, here
            return False
        finally:
            os.close(handle)

    @contextmanager
    def directory(self, path: str, *, make: bool = False) -> Generator[int]:
        """A handle of the folder at this path, closed afterwards; with `make`, folders that are missing are made.

        Raises PathDenied, FileNotFoundError, NotADirectoryError.
        """
        handle = os.dup(self._root)
        try:
            walked = ""
            for name in path.split("/") if path else ():
                walked = f"{walked}/{name}" if walked else name
                inner = self.enter(handle, name, walked, make=make)
                os.close(handle)
                handle = inner
            yield handle
        finally:
            os.close(handle)

    @contextmanager
    def parent(self, path: str, *, make: bool = False) -> Generator[tuple[int, str]]:
        """A handle of the folder that holds the file at this path, and the file's name in it."""
        above, _, name = path.rpartition("/")
        if not name:
            raise PathDenied("names_folder")
        private = self.private(path)
        if private:
            raise PathDenied("kept_private", path=display(private))
        with self.directory(above, make=make) as handle:
            yield handle, name

    def private(self, path: str) -> str:
        """Return the part of a path of ours that is kept from agents by its name, also while nothing is there; or nothing."""
        if not self._keeps_inside:
            return ""
        parts, root = path.split("/"), self.path.rstrip("/")
        ways = ("/".join(parts[:count]) for count in range(1, len(parts) + 1) if self._kept_from)
        return next((one for one in ways if f"{root}/{one}".casefold() in self._kept_from), "")

    def look(self, path: str) -> os.stat_result | None:
        """What is there: the status of a file or a folder, None where there is nothing. Raises PathDenied for all else."""
        if not path:
            return os.fstat(self._root)
        try:
            with self.parent(path) as (handle, name):
                found = os.stat(name, dir_fd=handle, follow_symlinks=False)
                if stat.S_ISDIR(found.st_mode):
                    os.close(self.enter(handle, name, path))
        except (FileNotFoundError, NotADirectoryError):
            return None
        refuse_special(found, path)
        return found

    def open_file(self, path: str) -> int:
        """A descriptor of the regular file at this path, for reading.

        Raises PathDenied, FileNotFoundError, NotADirectoryError, IsADirectoryError, PermissionError.
        """
        with self.parent(path) as (handle, name):
            return open_regular(handle, name, path)

    def read(self, path: str, largest: int) -> bytes | None:
        """The bytes of the file, at most `largest` and one; None where there is no file. Raises as `open_file` otherwise."""
        try:
            descriptor = self.open_file(path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        with os.fdopen(descriptor, "rb") as file:
            return file.read(largest + 1)

    def enter(self, handle: int, name: str, walked: str, *, make: bool = False) -> int:
        """A handle of the folder `name` in that of `handle`; `walked` is its path. To be closed. Raises as `directory`."""
        try:
            inner = os.open(name, _THROUGH, dir_fd=handle)
        except FileNotFoundError:
            if not make:
                raise
            # Somebody else may have made it meanwhile; what it is, is looked at when it is opened.
            with suppress(FileExistsError):
                os.mkdir(name, dir_fd=handle)
            inner = os.open(name, _THROUGH, dir_fd=handle)
        except OSError as error:
            if error.errno not in {errno.ENOTDIR, errno.ELOOP}:
                raise
            refuse_special(os.stat(name, dir_fd=handle, follow_symlinks=False), walked)
            raise NotADirectoryError(errno.ENOTDIR, f"{display(walked)} is not a folder") from error
        found = os.fstat(inner)
        if (found.st_dev, found.st_ino) in self._hidden:
            os.close(inner)
            raise PathDenied("kept_private", path=display(walked))
        return inner


def open_regular(handle: int, name: str, path: str) -> int:
    """A descriptor of the regular file `name` in the folder of this handle. Nothing else is even opened."""
    found = os.stat(name, dir_fd=handle, follow_symlinks=False)
    refuse_special(found, path)
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, f"{display(path)} is a folder")
    return open_listed(handle, name, path)


def open_listed(handle: int, name: str, path: str) -> int:
    """The same for a name that a listing just showed as a regular file: it is not looked at again before it is opened."""
    try:
        # Between the look and the opening it may have become a pipe, on which a plain opening would wait for ever.
        descriptor = os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | _NO_FOLLOW, dir_fd=handle)
    except OSError as error:
        if error.errno in {errno.ELOOP, errno.EMLINK}:
            raise PathDenied(_KINDS[stat.S_IFLNK], path=display(path)) from error
        if error.errno == errno.ENXIO:
            raise PathDenied("not_regular", path=display(path)) from error
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise PathDenied("not_regular", path=display(path))
    return descriptor


def refuse_special(found: os.stat_result, path: str) -> None:
    """Raises PathDenied for what is neither a regular file nor a folder."""
    if not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)):
        raise PathDenied(_KINDS.get(stat.S_IFMT(found.st_mode), "not_regular"), path=display(path))


def listing(handle: int) -> list[tuple[str, os.stat_result]]:
    """The entries of a folder by name, with their own status; links are not followed. Entries that vanish are left out."""
    inner = os.open(".", _LIST, dir_fd=handle)
    try:
        with os.scandir(inner) as entries:
            found = [(entry.name, status) for entry in entries if (status := _status(entry)) is not None]
    finally:
        os.close(inner)
    return sorted(found, key=lambda one: one[0])


def kinds(handle: int) -> list[tuple[str, str]]:
    """The entries of a folder by name: `d` for a folder, `f` for a regular file, nothing for others. No link is followed."""
    inner = os.open(".", _LIST, dir_fd=handle)
    try:
        with os.scandir(inner) as entries:
            return sorted((entry.name, _kind(entry)) for entry in entries)
    finally:
        os.close(inner)


def _kind(entry: os.DirEntry[str]) -> str:
    """What most systems say of an entry with its name, so that nothing is asked about it."""
    if entry.is_file(follow_symlinks=False):
        return "f"
    return "d" if entry.is_dir(follow_symlinks=False) else ""


def _status(entry: os.DirEntry[str]) -> os.stat_result | None:
    try:
        return entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return None


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = Path(path).stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
