"""Atomic replacement of a file. The name always leads to the old or the new content, also after a crash."""

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

#: Errors of file systems without hard links.
_NO_LINKS = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS})

#: No other change of this process may happen between the last check of a file and its replacement.
_ONE_AT_A_TIME = threading.Lock()


class ChangedMeanwhileError(Exception):
    """The file changed after the change was planned. Nothing was done."""


class StoppedError(Exception):
    """The call was stopped before its change. Nothing was done."""


def fingerprint(data: bytes | None) -> str:
    """Return the SHA-256 of a file's content in hex; `absent` without a file."""
    return ABSENT if data is None else hashlib.sha256(data).hexdigest()


def replace(folder: Folder, plan: PlannedChange, stop: threading.Event) -> None:
    """Make the change durably. Create missing folders. Keep the mode and owner of the file.

    Raises:
        ChangedMeanwhileError, StoppedError, PathDenied, OSError: The file is unchanged, unless the
            disk failed at the
            very end.
    """
    with folder.open_parent(plan.path, create=plan.before is None) as (handle, name):
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
    """Remove the file durably.

    Raises:
        ChangedMeanwhileError, PathDenied, OSError: The file is still there.
    """
    with folder.open_parent(path) as (handle, name):
        with _ONE_AT_A_TIME:
            if _content(handle, name, path) != before:
                raise ChangedMeanwhileError
            os.unlink(name, dir_fd=handle)
        _sync(handle)


def _swap(handle: int, temporary: str, name: str, plan: PlannedChange) -> None:
    if plan.before is None:
        try:
            # Unlike a rename, a link never replaces a file that was created meanwhile.
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
    """Give the new file the old mode, and the old owner if permitted."""
    try:
        found = os.stat(name, dir_fd=handle, follow_symlinks=False)
    except FileNotFoundError as error:
        raise ChangedMeanwhileError from error
    refuse_special(found, path)
    if not found.st_mode & 0o222:
        raise PermissionError(errno.EACCES, f"{display(path)} is read-only")
    mine = os.fstat(descriptor)
    if (found.st_uid, found.st_gid) != (mine.st_uid, mine.st_gid):
        # A process that may write a file may not always change its owner. Then the writer owns it.
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
