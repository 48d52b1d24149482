"""Files opened from the folder's handle, one component at a time, never through a symbolic link.

A path is walked at each use, and the opened file is the one that is used. No name is resolved
twice.
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

from callboard.contracts.facts.permission import ReasonCode

from .paths import PathDenied, display

_NO_FOLLOW = os.O_NOFOLLOW | os.O_CLOEXEC
#: Passing through a folder needs the right to search it, not to list it, where the system
#: distinguishes them.
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
    """The open folder of a workspace. Close it, or use it in a `with` statement.

    Args:
        hidden: Folders that no tool enters, at any place and under any name.
    Raises:
        FileNotFoundError, NotADirectoryError: There is no folder.
        PathDenied: The folder is hidden, or is in a hidden folder.
    """

    def __init__(self, path: str, hidden: Sequence[str] = ()) -> None:
        self.path = path
        self._root = os.open(path, _THROUGH)
        self._hidden = {identity for one in hidden if (identity := _identity(one)) is not None}
        # Missing hidden paths must not be created either.
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
        """Close the handle."""
        os.close(self._root)

    def _lies_hidden(self) -> bool:
        """Return True if the folder or one above it is hidden."""
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
    def open_directory(self, path: str, *, make: bool = False) -> Generator[int]:
        """Return a handle of the folder at this path, closed after the block. `make` creates
        missing folders.

        Raises:
            PathDenied, FileNotFoundError, NotADirectoryError: There is no such folder.
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
    def open_parent(self, path: str, *, make: bool = False) -> Generator[tuple[int, str]]:
        """Return a handle of the folder that contains the file, and the file's name."""
        above, _, name = path.rpartition("/")
        if not name:
            raise PathDenied("names_folder")
        private = self.find_private(path)
        if private:
            raise PathDenied("kept_private", path=display(private))
        with self.open_directory(above, make=make) as handle:
            yield handle, name

    def find_private(self, path: str) -> str:
        """Return the part of a relative path that is hidden by its name, also if it does not exist;
        empty for none.
        """
        if not self._keeps_inside:
            return ""
        parts, root = path.split("/"), self.path.rstrip("/")
        ways = ("/".join(parts[:count]) for count in range(1, len(parts) + 1) if self._kept_from)
        return next((one for one in ways if f"{root}/{one}".casefold() in self._kept_from), "")

    def read_status(self, path: str) -> os.stat_result | None:
        """Return the status of a file or folder; None if nothing is there. Raises PathDenied for
        other kinds.
        """
        if not path:
            return os.fstat(self._root)
        try:
            with self.open_parent(path) as (handle, name):
                found = os.stat(name, dir_fd=handle, follow_symlinks=False)
                if stat.S_ISDIR(found.st_mode):
                    os.close(self.enter(handle, name, path))
        except (FileNotFoundError, NotADirectoryError):
            return None
        refuse_special(found, path)
        return found

    def open_file(self, path: str) -> int:
        """Return a read descriptor of the regular file at this path.

        Raises:
            PathDenied, FileNotFoundError, NotADirectoryError, IsADirectoryError, PermissionError:
                It cannot be opened.
        """
        with self.open_parent(path) as (handle, name):
            return open_regular(handle, name, path)

    def read(self, path: str, largest: int) -> bytes | None:
        """Return at most `largest` + 1 bytes of the file; None if there is no file. Otherwise
        raises as `open_file`.
        """
        try:
            descriptor = self.open_file(path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        with os.fdopen(descriptor, "rb") as file:
            return file.read(largest + 1)

    def enter(self, handle: int, name: str, walked: str, *, make: bool = False) -> int:
        """Return a handle of the folder `name` in the folder of `handle`. The caller closes it.
        Raises as `directory`.
        """
        try:
            inner = os.open(name, _THROUGH, dir_fd=handle)
        except FileNotFoundError:
            if not make:
                raise
            # Another process may have created it meanwhile. Opening checks what it is.
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
    """Return a descriptor of the regular file `name` in this folder. Nothing else is opened."""
    found = os.stat(name, dir_fd=handle, follow_symlinks=False)
    refuse_special(found, path)
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, f"{display(path)} is a folder")
    return open_listed(handle, name, path)


def open_listed(handle: int, name: str, path: str) -> int:
    """Return the same for a name that a listing just showed as a regular file, without another
    check before opening.
    """
    try:
        # It may have become a pipe meanwhile, on which a plain open would block.
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
    """Raise PathDenied for anything except a regular file or a folder."""
    if not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)):
        raise PathDenied(_KINDS.get(stat.S_IFMT(found.st_mode), "not_regular"), path=display(path))


def list_entries(handle: int) -> list[tuple[str, os.stat_result]]:
    """Return the entries of a folder by name with their status. Links are not followed. Vanished
    entries are left out.
    """
    inner = os.open(".", _LIST, dir_fd=handle)
    try:
        with os.scandir(inner) as entries:
            found = [(entry.name, status) for entry in entries if (status := _status(entry)) is not None]
    finally:
        os.close(inner)
    return sorted(found, key=lambda one: one[0])


def list_kinds(handle: int) -> list[tuple[str, str]]:
    """Return the entries of a folder by name: `d` folder, `f` regular file, empty for others. Links
    are not followed.
    """
    inner = os.open(".", _LIST, dir_fd=handle)
    try:
        with os.scandir(inner) as entries:
            return sorted((entry.name, _kind(entry)) for entry in entries)
    finally:
        os.close(inner)


def _kind(entry: os.DirEntry[str]) -> str:
    """Return the kind from the directory entry, which needs no further system call on most systems."""
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
