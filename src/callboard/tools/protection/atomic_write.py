"""Atomic replacement of files. A name always has the old or the new content, also after a crash."""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import stat
import threading
from contextlib import suppress

from ..files.changes import PlannedChange
from ..files.handles import Folder, exists, open_regular, refuse_special
from ..files.paths import display, find_protected
from .watch import approve

ABSENT = "absent"

#: Errors of file systems without hard links.
_NO_LINKS = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS})

#: Prevents another change by this process between the last check of a file and its replacement.
_change_lock = threading.Lock()


class ChangedMeanwhileError(Exception):
    """The file changed after the change was planned. Nothing was written."""


class StoppedError(Exception):
    """The call was stopped before its change. Nothing was written."""


def compute_fingerprint(data: bytes | None) -> str:
    """Return the SHA-256 of a file's content in hex; `absent` without a file."""
    return ABSENT if data is None else hashlib.sha256(data).hexdigest()


def replace(folder: Folder, plan: PlannedChange, stop: threading.Event) -> None:
    """Make the change durably. Create missing folders. Keep the mode and owner of the file.

    Raises:
        ChangedMeanwhileError, StoppedError, PathDenied, OSError: The file is unchanged, unless the
            final sync failed.
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
                    _copy_owner_and_mode(handle, name, plan.path, file.fileno())
                os.fsync(file.fileno())
            with _change_lock:
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
    """Remove the file durably. Raises ChangedMeanwhileError, PathDenied, OSError."""
    with folder.open_parent(path) as (handle, name):
        with _change_lock:
            if _read_content(handle, name, path) != before:
                raise ChangedMeanwhileError
            os.unlink(name, dir_fd=handle)
        _sync(handle)


def _swap(handle: int, temporary: str, name: str, plan: PlannedChange) -> None:
    if plan.before is None:
        try:
            # Unlike a rename, a link never replaces a file that was created in the meantime.
            os.link(temporary, name, src_dir_fd=handle, dst_dir_fd=handle, follow_symlinks=False)
        except FileExistsError as error:
            raise ChangedMeanwhileError from error
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            if exists(handle, name):
                raise ChangedMeanwhileError from None
            os.rename(temporary, name, src_dir_fd=handle, dst_dir_fd=handle)
        else:
            os.unlink(temporary, dir_fd=handle)
        return
    if _read_content(handle, name, plan.path) != plan.before:
        raise ChangedMeanwhileError
    os.rename(temporary, name, src_dir_fd=handle, dst_dir_fd=handle)


def _read_content(handle: int, name: str, path: str) -> bytes | None:
    try:
        descriptor = open_regular(handle, name, path)
    except FileNotFoundError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        return file.read()


def _copy_owner_and_mode(handle: int, name: str, path: str, descriptor: int) -> None:
    """Copy the mode of the old file, and its owner if permitted."""
    try:
        status = os.stat(name, dir_fd=handle, follow_symlinks=False)
    except FileNotFoundError as error:
        raise ChangedMeanwhileError from error
    refuse_special(status, path)
    if not status.st_mode & 0o222:
        raise PermissionError(errno.EACCES, f"{display(path)} is read-only")
    own_status = os.fstat(descriptor)
    if (status.st_uid, status.st_gid) != (own_status.st_uid, own_status.st_gid):
        # A process may write a file whose owner it cannot set. Then the writer owns the file.
        with suppress(PermissionError):
            os.fchown(descriptor, status.st_uid, status.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(status.st_mode) & 0o1777)


def _remove(handle: int, name: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=handle)


def _sync(handle: int) -> None:
    inner = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=handle)
    try:
        os.fsync(inner)
    finally:
        os.close(inner)
