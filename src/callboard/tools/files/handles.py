"""Files opened from the folder's handle, one component at a time, never through a symbolic link.

Each use walks the path once and works on the opened file. No name is resolved twice.
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
#: Traversal requires search permission, not list permission, if the system distinguishes them.
_TRAVERSE = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | _NO_FOLLOW
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
        hidden: Folders that no tool enters, in any place and under any name.
    Raises:
        FileNotFoundError, NotADirectoryError: The folder does not exist.
        PathDenied: The folder is in a hidden folder.
    """

    def __init__(self, path: str, hidden: Sequence[str] = ()) -> None:
        self.path = path
        self._root = os.open(path, _TRAVERSE)
        self._hidden = {identity for entry in hidden if (identity := _identify(entry)) is not None}
        # Tools must not create missing hidden paths either.
        self._hidden_paths = frozenset(entry.casefold() for entry in hidden)
        self._has_hidden_inside = any(
            entry.startswith(f"{path.rstrip('/')}/".casefold()) for entry in self._hidden_paths
        )
        if self._is_hidden():
            self.close()
            raise PathDenied("kept_by_callboard")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the handle."""
        os.close(self._root)

    def _is_hidden(self) -> bool:
        """Return True if the folder or one of its parents is hidden."""
        handle, former = os.dup(self._root), None
        try:
            while self._hidden:
                status = os.fstat(handle)
                identity = (status.st_dev, status.st_ino)
                if identity in self._hidden:
                    return True
                if identity == former:
                    return False
                parent = os.open("..", _TRAVERSE, dir_fd=handle)
                os.close(handle)
                handle, former = parent, identity
            return False
        finally:
            os.close(handle)

    @contextmanager
    def open_directory(self, path: str, *, create: bool = False) -> Generator[int]:
        """Return a handle of the folder at this path, closed after the block. `create` adds missing folders.

        Raises PathDenied, FileNotFoundError, NotADirectoryError.
        """
        handle = os.dup(self._root)
        try:
            walked = ""
            for name in path.split("/") if path else ():
                walked = f"{walked}/{name}" if walked else name
                inner = self.enter(handle, name, walked, create=create)
                os.close(handle)
                handle = inner
            yield handle
        finally:
            os.close(handle)

    @contextmanager
    def open_parent(self, path: str, *, create: bool = False) -> Generator[tuple[int, str]]:
        """Return a handle of the file's folder, and the file's name."""
        above, _, name = path.rpartition("/")
        if not name:
            raise PathDenied("names_folder")
        private = self.find_private(path)
        if private:
            raise PathDenied("kept_private", path=display(private))
        with self.open_directory(above, create=create) as handle:
            yield handle, name

    def find_private(self, path: str) -> str:
        """Return the part of a relative path that is hidden, also if it does not exist; empty for none."""
        if not self._has_hidden_inside:
            return ""
        parts, root = path.split("/"), self.path.rstrip("/")
        ways = ("/".join(parts[:count]) for count in range(1, len(parts) + 1) if self._hidden_paths)
        return next((way for way in ways if f"{root}/{way}".casefold() in self._hidden_paths), "")

    def read_status(self, path: str) -> os.stat_result | None:
        """Return the status of a file or folder; None if it does not exist. Raises PathDenied for other kinds."""
        if not path:
            return os.fstat(self._root)
        try:
            with self.open_parent(path) as (handle, name):
                status = os.stat(name, dir_fd=handle, follow_symlinks=False)
                if stat.S_ISDIR(status.st_mode):
                    os.close(self.enter(handle, name, path))
        except (FileNotFoundError, NotADirectoryError):
            return None
        refuse_special(status, path)
        return status

    def open_file(self, path: str) -> int:
        """Return a read descriptor of the regular file at this path. Raises PathDenied, OSError."""
        with self.open_parent(path) as (handle, name):
            return open_regular(handle, name, path)

    def read(self, path: str, max_bytes: int) -> bytes | None:
        """Return at most `max_bytes` + 1 bytes of the file; None if it does not exist. Raises as `open_file`."""
        try:
            descriptor = self.open_file(path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        with os.fdopen(descriptor, "rb") as file:
            # Python allocates what it is asked for: megabytes for each small file.
            size = os.fstat(descriptor).st_size
            data = file.read(min(size, max_bytes) + 1)
            # The file has grown, or is one without a size.
            return data + file.read(max_bytes + 1 - len(data)) if size < len(data) <= max_bytes else data

    def enter(self, handle: int, name: str, walked: str, *, create: bool = False) -> int:
        """Return a handle of the folder `name` in `handle`. The caller closes it. Raises as `open_directory`."""
        try:
            inner = os.open(name, _TRAVERSE, dir_fd=handle)
        except FileNotFoundError:
            if not create:
                raise
            # Another process may have created it in the meantime. Opening it checks its kind.
            with suppress(FileExistsError):
                os.mkdir(name, dir_fd=handle)
            inner = os.open(name, _TRAVERSE, dir_fd=handle)
        except OSError as error:
            if error.errno not in {errno.ENOTDIR, errno.ELOOP}:
                raise
            refuse_special(os.stat(name, dir_fd=handle, follow_symlinks=False), walked)
            raise NotADirectoryError(errno.ENOTDIR, f"{display(walked)} is not a folder") from error
        status = os.fstat(inner)
        if (status.st_dev, status.st_ino) in self._hidden:
            os.close(inner)
            raise PathDenied("kept_private", path=display(walked))
        return inner


def open_regular(handle: int, name: str, path: str) -> int:
    """Return a descriptor of the regular file `name` in this folder. Refuse other kinds before opening."""
    status = os.stat(name, dir_fd=handle, follow_symlinks=False)
    refuse_special(status, path)
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, f"{display(path)} is a folder")
    return open_listed(handle, name, path)


def open_listed(handle: int, name: str, path: str) -> int:
    """Return a descriptor of a file that was just listed as regular, without a check before opening."""
    try:
        # The file may have become a pipe, on which a blocking open would hang.
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


def refuse_special(status: os.stat_result, path: str) -> None:
    """Raise PathDenied for anything except a regular file or a folder."""
    if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
        raise PathDenied(_KINDS.get(stat.S_IFMT(status.st_mode), "not_regular"), path=display(path))


def exists(handle: int, name: str) -> bool:
    """Return True if the folder has an entry `name`, without following a link."""
    try:
        os.stat(name, dir_fd=handle, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def list_entries(handle: int) -> list[tuple[str, os.stat_result]]:
    """Return the entries of a folder by name with their status, without following links."""
    inner = os.open(".", _LIST, dir_fd=handle)
    try:
        with os.scandir(inner) as entries:
            named = [(entry.name, status) for entry in entries if (status := _read_status(entry)) is not None]
    finally:
        os.close(inner)
    return sorted(named, key=lambda item: item[0])


def list_kinds(handle: int) -> list[tuple[str, str]]:
    """Return the entries of a folder by name: `d` folder, `f` regular file, empty for other kinds and links."""
    inner = os.open(".", _LIST, dir_fd=handle)
    try:
        with os.scandir(inner) as entries:
            return sorted((entry.name, _detect_kind(entry)) for entry in entries)
    finally:
        os.close(inner)


def _detect_kind(entry: os.DirEntry[str]) -> str:
    """Return the kind from the directory entry, on most systems without a system call."""
    if entry.is_file(follow_symlinks=False):
        return "f"
    return "d" if entry.is_dir(follow_symlinks=False) else ""


def _read_status(entry: os.DirEntry[str]) -> os.stat_result | None:
    try:
        return entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return None


def _identify(path: str) -> tuple[int, int] | None:
    try:
        status = Path(path).stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
