"""Announcements of the project folders that each process of this user serves.

They reveal two state folders on one project. Each process has one file in a private folder, locked while it is running.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import logging
import os
import stat
import tempfile
import time
from collections.abc import Generator, Iterator, Mapping
from pathlib import Path

import msgspec

log = logging.getLogger(__name__)

_VARIABLE = "XDG_RUNTIME_DIR"
_MAX_BYTES = 4_000_000
_TRIES, _RETRY_SECONDS = 5, 0.01


class FolderUse(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A process that serves folders, and its state folder `home`. Paths are absolute and without links."""

    pid: int
    home: str
    folders: tuple[str, ...] = ()


class FolderClaim:
    """The announcement of this process, until `release` or the end of the process.

    Without a private folder there is no announcement: another user could write a public file.
    """

    def __init__(self, state_folder: Path, environment: Mapping[str, str]) -> None:
        self._use = FolderUse(pid=os.getpid(), home=os.path.realpath(state_folder))
        folder = ensure_private_folder(environment)
        self._path = None if folder is None else folder / f"{_build_name(self._use.home)}.json"
        self._file: int | None = None
        if self._path is None:
            log.warning("no private folder for this user: other state folders on a project are not detected")

    def add(self, folder: str) -> None:
        """Announce that this process serves a folder. A failure is only logged."""
        real = os.path.realpath(folder)
        if self._path is None or real in self._use.folders:
            return
        self._use = msgspec.structs.replace(self._use, folders=(*self._use.folders, real))
        try:
            if self._file is not None and not os.fstat(self._file).st_nlink:
                # A cleaner of temporary files removed its name.
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
        """Withdraw the announcement. Idempotent."""
        if self._file is not None and self._path is not None:
            # Before the lock is released: the next process may then own the file.
            self._path.unlink(missing_ok=True)
            os.close(self._file)
            self._file = None


def find_others(folder: str | Path, state_folder: Path, environment: Mapping[str, str]) -> tuple[FolderUse, ...]:
    """Return running processes that serve the folder with a state folder other than `state_folder`."""
    real, own_state_folder = os.path.realpath(folder), os.path.realpath(state_folder)
    return tuple(
        use
        for private in list_private_folders(environment)
        for path in sorted(private.glob("*.json"))
        if (use := _read(path)) is not None and use.home != own_state_folder and real in use.folders
    )


def _build_name(state_folder: str) -> str:
    return hashlib.sha256(state_folder.encode("utf-8", "surrogateescape")).hexdigest()[:32]


def _read(path: Path) -> FolderUse | None:
    """Read an announcement; None if its process has ended or the file is invalid."""
    with contextlib.suppress(OSError, msgspec.MsgspecError), _open(path) as file:
        if not _is_locked(file):
            return None
        return msgspec.json.decode(os.pread(file, _MAX_BYTES, 0), type=FolderUse)
    return None


def _remove_stale(folder: Path) -> None:
    """Remove the files of processes that ended."""
    for path in folder.glob("*.json"):
        with contextlib.suppress(OSError), _open(path) as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink(missing_ok=True)


def _open_locked(path: Path) -> int | None:
    """Open and lock the file of this process; None if its name keeps being removed. Raises OSError."""
    for _ in range(_TRIES):
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(file), path.stat()):
                return file
        except (BlockingIOError, FileNotFoundError):
            # The store has one writer, so a reader is checking the file, or removing it as stale.
            time.sleep(_RETRY_SECONDS)
        os.close(file)
    return None


@contextlib.contextmanager
def _open(path: Path) -> Generator[int]:
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


def ensure_private_folder(environment: Mapping[str, str]) -> Path | None:
    """Return the private folder, created if missing; None if no folder is private."""
    for folder in _list_candidates(environment):
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
        except OSError:
            continue
        if is_private(folder):
            return folder
    return None


def list_private_folders(environment: Mapping[str, str]) -> Iterator[Path]:
    """Yield every private folder of this user: processes have different environments."""
    return filter(is_private, dict.fromkeys(_list_candidates(environment)))


def is_private(folder: Path) -> bool:
    """Return whether only this user can write to the folder. A link is never private."""
    try:
        status = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid() and not status.st_mode & 0o077


def _list_candidates(environment: Mapping[str, str]) -> Iterator[Path]:
    user = os.geteuid()
    for name in (environment.get(_VARIABLE, ""), f"/run/user/{user}"):
        if name and is_private(Path(name)):
            yield Path(name, "callboard")
    yield Path(tempfile.gettempdir(), f"callboard-{user}")
