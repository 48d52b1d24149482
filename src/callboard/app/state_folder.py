"""The user's state folder.

    settings.toml    the user's settings
    store/           the log
    endpoint.json    address of the running process, and the token of this start
    opening/         files that open the page in a browser, each for at most a minute
    callboard.log    incidents
    restoring.json   a restore that is decided but not finished; its new files are in .restoring/
    uploads/         attached files, until they are used, for at most a day

`CALLBOARD_HOME` names another folder. It is never inside a workspace. Demo folders are next to it, in a folder of the same name
with the ending `-demos`.
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
    """The folder and its paths. A new folder has mode 0700, its files 0600."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.settings = folder / "settings.toml"
        self.store = folder / "store"
        self.endpoint = folder / "endpoint.json"
        self.opening = folder / "opening"
        self.log = folder / "callboard.log"
        self.uploads = folder / "uploads"
        #: Outside the state folder, where no agent works.
        self.demos = folder.with_name(f"{folder.name}-demos")

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> StateFolder:
        """Return the folder that the environment names, else the system's folder for user state."""
        name = environment.get(VARIABLE)
        folder = Path(name).expanduser() if name else platformdirs.user_state_path("callboard", appauthor=False)
        return cls(folder.absolute())

    def create(self) -> None:
        """Create the folder if it is missing. Raises Refusal `store_unusable` or `store_full`."""
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except FileExistsError as error:
            raise build_path_refusal(self.folder, "it is a file, not a folder") from error
        except OSError as error:
            raise build_path_refusal(self.folder, error) from error
        if not os.access(self.folder, os.R_OK | os.W_OK | os.X_OK):
            raise build_path_refusal(self.folder, "it is not writable")

    def has_store(self) -> bool:
        """Return True if the folder has a store."""
        return self.store.is_dir()

    def forget_old_token(self) -> None:
        """Remove the token file of earlier versions. Each start has a new token, so a leftover file is harmless."""
        with contextlib.suppress(OSError):
            (self.folder / "token").unlink(missing_ok=True)


def build_path_refusal(path: Path, why: OSError | str) -> Refusal:
    """Return the refusal for an unusable state folder or file."""
    if isinstance(why, OSError) and is_full(why):
        hint = f"Free space, or set {VARIABLE} to a folder on another disk."
        return Refusal("store_full", f"The disk is full: {path} cannot be written.", field=VARIABLE, hint=hint)
    reason = why if isinstance(why, str) else (why.strerror or str(why))
    failed = isinstance(why, OSError) and is_failed(why)
    return Refusal(
        "store_unusable",
        f"{path} cannot be used: {reason[:1].lower()}{reason[1:]}.",
        field=VARIABLE,
        hint=FAILED_HINT if failed else f"Fix it, or set {VARIABLE} to a writable folder.",
    )


def write_file(path: Path, data: bytes) -> None:
    """Write a file of the state folder atomically, with mode 0600. Raises Refusal `store_unusable` or `store_full`."""
    try:
        write_private(path, data)
    except OSError as error:
        raise build_path_refusal(path, error) from error


def read_regular(path: Path) -> bytes:
    """Read a regular file, or the target of a link to one.

    Pipes and devices are refused: reading them may never end.

    Raises:
        OSError: The file cannot be read, is a folder (`EISDIR`), or is not a regular file (`EINVAL`).
    """
    # Without the flag, opening a pipe waits for its writer.
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError as error:
        raise (_build_irregular_error(path) if error.errno == errno.ENXIO else error) from error
    try:
        mode = os.fstat(handle).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(mode):
            raise _build_irregular_error(path)
        with os.fdopen(handle, "rb", closefd=False) as file:
            return file.read()
    finally:
        os.close(handle)


def _build_irregular_error(path: Path) -> OSError:
    return OSError(errno.EINVAL, "It is not a regular file", str(path))


def write_private(path: Path, data: bytes) -> None:
    """Write a file atomically, with mode 0600. Readers see the former or the new content, also after a power failure."""
    part = path.with_name(f".{path.name}.{os.getpid()}")
    part.unlink(missing_ok=True)
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            # Sync before the rename: after a power failure the name could have no content.
            os.fsync(file.fileno())
        part.replace(path)
        sync_folder(path.parent)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable. Raises OSError."""
    handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
