"""What a process announces: its state folder and the project folders that it serves."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import logging
import os
import time
from collections.abc import Generator, Mapping
from pathlib import Path

import msgspec

from .place import private_folder, private_folders

log = logging.getLogger(__name__)

_MOST_BYTES = 4_000_000
_TRIES, _AGAIN_S = 5, 0.01


class FolderUse(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A process that serves folders, and its state folder `home`. Paths are absolute and without links."""

    pid: int
    home: str
    folders: tuple[str, ...] = ()


class FolderClaim:
    """The announcement of this process. It ends with `release` or with the process.

    Without a private folder nothing is announced: a file that another user can write proves nothing.
    """

    def __init__(self, home: Path, environment: Mapping[str, str]) -> None:
        self._use = FolderUse(pid=os.getpid(), home=os.path.realpath(home))
        place = private_folder(environment)
        self._path = None if place is None else place / f"{_name(self._use.home)}.json"
        self._file: int | None = None
        if self._path is None:
            log.warning("no private folder for this user: other state folders on a project are not noticed")

    def add(self, folder: str) -> None:
        """Announce that this process serves a folder. A failure is logged: it stops no work."""
        real = os.path.realpath(folder)
        if self._path is None or real in self._use.folders:
            return
        self._use = msgspec.structs.replace(self._use, folders=(*self._use.folders, real))
        try:
            if self._file is not None and not os.fstat(self._file).st_nlink:
                # Its name was removed, as cleaners of temporary files do.
                os.close(self._file)
                self._file = None
            if self._file is None:
                _remove_stale(self._path.parent)
                self._file = _open_locked(self._path)
            if self._file is not None:
                data = msgspec.json.encode(self._use)
                os.pwrite(self._file, data, 0)
                os.ftruncate(self._file, len(data))
        except (OSError, ValueError) as error:
            log.warning("%s is not announced as served: %s", real, error)

    def release(self) -> None:
        """Withdraw the announcement. Harmless when repeated."""
        if self._file is not None and self._path is not None:
            # Before the lock is released: after that, the file can be that of the next process.
            self._path.unlink(missing_ok=True)
            os.close(self._file)
            self._file = None


def others_on(folder: str | Path, home: Path, environment: Mapping[str, str]) -> tuple[FolderUse, ...]:
    """Return the living processes that serve a folder with another state folder than `home`."""
    real, own = os.path.realpath(folder), os.path.realpath(home)
    return tuple(
        use
        for place in private_folders(environment)
        for path in sorted(place.glob("*.json"))
        if (use := _read(path)) is not None and use.home != own and real in use.folders
    )


def _name(home: str) -> str:
    return hashlib.sha256(home.encode("utf-8", "surrogateescape")).hexdigest()[:32]


def _read(path: Path) -> FolderUse | None:
    """Read an announcement; None where its process ended, or where it is none."""
    with contextlib.suppress(OSError, msgspec.MsgspecError), _opened(path) as file:
        if not _is_locked(file):
            return None
        return msgspec.json.decode(os.pread(file, _MOST_BYTES, 0), type=FolderUse)
    return None


def _remove_stale(place: Path) -> None:
    """Remove the files of processes that ended."""
    for path in place.glob("*.json"):
        with contextlib.suppress(OSError), _opened(path) as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink(missing_ok=True)


def _open_locked(path: Path) -> int | None:
    """Open and lock the file of this process; None where its name does not stay in place. Raises OSError."""
    for _ in range(_TRIES):
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(file), path.stat()):
                return file
        except (BlockingIOError, FileNotFoundError):
            # The lock of the store lets one process in, so a reader looks just now, or removes a stale file.
            time.sleep(_AGAIN_S)
        os.close(file)
    return None


@contextlib.contextmanager
def _opened(path: Path) -> Generator[int]:
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        yield file
    finally:
        os.close(file)


def _is_locked(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False
