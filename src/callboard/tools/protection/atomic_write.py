"""A file replaced as a whole: at every moment the name leads to the old content or to the new one, also after a crash."""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import stat
import threading
from contextlib import suppress

from ..files.changes import PlannedChange
from ..files.handles import Folder, open_regular, refuse_special
from ..files.paths import display, find_protected
from .watch import approve

ABSENT = "absent"

#: What file systems answer that have no hard links.
_NO_LINKS = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS})

#: Between the last look at a file and its replacement no other change of this process may come.
_ONE_AT_A_TIME = threading.Lock()


class ChangedMeanwhileError(Exception):
    """The file is no longer what the change was made for. Nothing was done."""


class StoppedError(Exception):
    """The call was stopped before its change was made. Nothing was done."""


def fingerprint(data: bytes | None) -> str:
    """The SHA-256 of a file's content in hex, `absent` where there is no file."""
    return ABSENT if data is None else hashlib.sha256(data).hexdigest()


def replace(folder: Folder, plan: PlannedChange, stop: threading.Event) -> None:
    """Makes the change, durably. Folders that are missing are made; mode and owner of the file are kept.

    Raises Changed, Stopped, PathDenied, OSError; the file is as it was then, unless it is the disk that failed at the very end.
    """
    with folder.parent(plan.path, make=plan.before is None) as (handle, name):
        temporary = f".callboard-{secrets.token_hex(8)}.tmp"
        descriptor = os.open(
            temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666, dir_fd=handle
        )
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(plan.after)
                file.flush()
                if plan.before is not None:
                    _take_over(handle, name, plan.path, file.fileno())
                os.fsync(file.fileno())
            with _ONE_AT_A_TIME:
                if stop.is_set():
                    raise StoppedError
                _swap(handle, temporary, name, plan)
                if find_protected(plan.path):
                    approve(folder.path, plan.path)
        except BaseException:
            _remove(handle, temporary)
            raise
        _sync(handle)


def remove(folder: Folder, path: str, before: bytes) -> None:
    """Removes the file, durably. Raises Changed where it is not what it was, PathDenied, OSError; the file is there then."""
    with folder.parent(path) as (handle, name):
        with _ONE_AT_A_TIME:
            if _content(handle, name, path) != before:
                raise ChangedMeanwhileError
            os.unlink(name, dir_fd=handle)
        _sync(handle)


def _swap(handle: int, temporary: str, name: str, plan: PlannedChange) -> None:
    if plan.before is None:
        try:
            # Unlike a renaming, a link never takes the place of a file that came meanwhile.
            os.link(temporary, name, src_dir_fd=handle, dst_dir_fd=handle, follow_symlinks=False)
        except FileExistsError as error:
            raise ChangedMeanwhileError from error
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            if _exists(handle, name):
                raise ChangedMeanwhileError from None
            os.rename(temporary, name, src_dir_fd=handle, dst_dir_fd=handle)
        else:
            os.unlink(temporary, dir_fd=handle)
        return
    if _content(handle, name, plan.path) != plan.before:
        raise ChangedMeanwhileError
    os.rename(temporary, name, src_dir_fd=handle, dst_dir_fd=handle)


def _content(handle: int, name: str, path: str) -> bytes | None:
    try:
        descriptor = open_regular(handle, name, path)
    except FileNotFoundError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        return file.read()


def _take_over(handle: int, name: str, path: str, descriptor: int) -> None:
    """Gives the new file the old one's mode, and its owner where this process may."""
    try:
        found = os.stat(name, dir_fd=handle, follow_symlinks=False)
    except FileNotFoundError as error:
        raise ChangedMeanwhileError from error
    refuse_special(found, path)
    if not found.st_mode & 0o222:
        raise PermissionError(errno.EACCES, f"{display(path)} is read-only")
    mine = os.fstat(descriptor)
    if (found.st_uid, found.st_gid) != (mine.st_uid, mine.st_gid):
        # Who may write a file is not always one who may give it away; then it becomes the writer's.
        with suppress(PermissionError):
            os.fchown(descriptor, found.st_uid, found.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(found.st_mode) & 0o1777)


def _exists(handle: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=handle, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _remove(handle: int, name: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=handle)


def _sync(handle: int) -> None:
    inner = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=handle)
    try:
        os.fsync(inner)
    finally:
        os.close(inner)
