"""The user's state folder: settings, the store, and how the running process is found.

    settings.toml    what the person set
    store/           the log
    endpoint.json    where the process that writes the store is, and the token of this start
    opening/         files that open the page in a browser, each for a minute at most
    callboard.log    incidents, for whoever looks into one
    restoring.json   a restore that is decided and not in place yet, with what it puts there in .restoring/
    uploads/         files that a person attaches, until they are used, at most a day

`CALLBOARD_HOME` names another folder. Nothing of it ever lies in a workspace. What demos work on lies beside it, in a folder of
the same name with `-demos` behind it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Mapping
from pathlib import Path

import platformdirs

from callboard.contracts.disk import FAILED_HINT, is_failed, is_full
from callboard.contracts.errors import Refusal

VARIABLE = "CALLBOARD_HOME"


class StateFolder:
    """The folder and the names in it. It has mode 0700 where it is made here, and what is written into it 0600."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.settings = folder / "settings.toml"
        self.store = folder / "store"
        self.endpoint = folder / "endpoint.json"
        self.opening = folder / "opening"
        self.log = folder / "callboard.log"
        self.uploads = folder / "uploads"
        #: Beside it and not in it: no agent works in the state folder.
        self.demos = folder.with_name(f"{folder.name}-demos")

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> StateFolder:
        """The folder that the environment names, else the system's place for a user's state."""
        named = environment.get(VARIABLE)
        folder = Path(named).expanduser() if named else platformdirs.user_state_path("callboard", appauthor=False)
        return cls(folder.absolute())

    def make(self) -> None:
        """Makes the folder where there is none. Raises Refusal `store_unusable` where that is not possible, or where it may not
        be written to, and `store_full`."""
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except FileExistsError as error:
            raise unusable_path(self.folder, "it is a file and no folder") from error
        except OSError as error:
            raise unusable_path(self.folder, error) from error
        if not os.access(self.folder, os.R_OK | os.W_OK | os.X_OK):
            raise unusable_path(self.folder, "it may not be written to")

    def has_store(self) -> bool:
        """True where a process of Callboard has made a store here."""
        return self.store.is_dir()

    def forget_old_token(self) -> None:
        """Remove the token that earlier versions kept. Each start has its own, so one that cannot be removed opens nothing."""
        with contextlib.suppress(OSError):
            (self.folder / "token").unlink(missing_ok=True)


def unusable_path(path: Path, why: OSError | str) -> Refusal:
    """The refusal of a state folder, or a file in it, that cannot be worked with."""
    if isinstance(why, OSError) and is_full(why):
        hint = f"Make room, or set {VARIABLE} to a folder on another disk."
        return Refusal("store_full", f"There is no room to write {path}.", field=VARIABLE, hint=hint)
    said = why if isinstance(why, str) else (why.strerror or str(why))
    failed = isinstance(why, OSError) and is_failed(why)
    return Refusal(
        "store_unusable",
        f"{path} cannot be used: {said[:1].lower()}{said[1:]}.",
        field=VARIABLE,
        hint=FAILED_HINT if failed else f"Fix it, or set {VARIABLE} to a writable folder.",
    )


def write_file(path: Path, data: bytes) -> None:
    """Writes a file of the state folder with mode 0600, whole. Raises Refusal `store_unusable`, `store_full`."""
    try:
        write_private(path, data)
    except OSError as error:
        raise unusable_path(path, error) from error


def read_regular(path: Path) -> bytes:
    """Return the content of a regular file, or of one that a link names.

    A pipe would be waited for and a device has no end: neither is read.

    Raises:
        OSError: It cannot be read, it is a folder (`EISDIR`), or no regular file (`EINVAL`).
    """
    # Without the flag, opening a pipe waits for its writer.
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError as error:
        raise (_irregular(path) if error.errno == errno.ENXIO else error) from error
    try:
        mode = os.fstat(handle).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(mode):
            raise _irregular(path)
        with os.fdopen(handle, "rb", closefd=False) as file:
            return file.read()
    finally:
        os.close(handle)


def _irregular(path: Path) -> OSError:
    return OSError(errno.EINVAL, "It is not a regular file", str(path))


def write_private(path: Path, data: bytes) -> None:
    """Writes the file with mode 0600, whole or not at all: a reader sees the former content or this one, and so does the next
    start after a loss of power."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.unlink(missing_ok=True)
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            # Before the name: after a loss of power there would be a file of that name without its content.
            os.fsync(file.fileno())
        beside.replace(path)
        sync_folder(path.parent)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable. Raises OSError."""
    handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
