"""Writing of backups, also while a process writes to the store."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Generator
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from callboard import __version__
from callboard.contracts.disk import is_full
from callboard.contracts.errors import Refusal
from callboard.log.sqlite.upkeep.damage import Checked
from callboard.log.sqlite.upkeep.folders import list_opened_folders
from callboard.log.sqlite.upkeep.log_copy import copy_log
from callboard.log.sqlite.upkeep.store_check import check_store

from ..state_folder import StateFolder, build_path_refusal, sync_folder
from .archive import FILES, FORMAT, LOG, Manifest, Member, describe_member, write

_CLOSED = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
#: Files that a backup omits, and why, for a person.
LEFT_OUT = (
    "views.db (rebuilt from the log)",
    "the values of secrets (stored in the system's keyring)",
    "the token and the incident log",
)
_STORE = "store"
#: Prefix of the folder of the copy.
_COPY = ".callboard-backup-"


class BackupResult(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A written backup. `size` is in bytes; `project` is the opened folder whose agents can read it, or empty."""

    file: str
    size: int
    streams: int
    facts: int
    blobs: int
    damages: int = 0
    left_out: tuple[str, ...] = LEFT_OUT
    project: str = ""


def back_up(
    state_folder: StateFolder,
    target: Path,
    *,
    force: bool = False,
    damaged: bool = False,
    in_project: bool = False,
    progress: Callable[[str], None],
) -> BackupResult:
    """Write a backup of the state folder.

    Copies the log as of one moment, checks the whole copy, and packs it with settings, secret names and uploads. Blocks.

    Args:
        target: A file, or a folder for a file named by the time.
        force: Permission to replace an existing file.
        damaged: Permission to back up a damaged store.
        in_project: Permission to write into an opened folder, where agents can read the backup.
    Raises:
        Refusal: `unknown_session` without a store, `invalid_input` for a target that is not writable or that agents can read,
            `chain_broken` for a damaged store, `store_full`, `store_unusable`.
    Example:
        result = back_up(state_folder, Path("/mnt/disk"), progress=print)
    """
    file = _resolve_target(target, force=force)
    project = _find_project(state_folder, file)
    if project and not in_project:
        raise _build_exposed_refusal(file, project)
    try:
        with _create_temporary_folder(file.parent) as folder:
            (folder / _STORE).mkdir(mode=0o700)
            progress("copying the log")
            copy_log(state_folder.store, folder / _STORE)
            checked = check_store(folder / _STORE, progress=progress)
            if checked.damages and not damaged:
                raise _build_damaged_refusal(checked)
            _drop_side_files(folder / _STORE)
            progress("packing")
            members = [describe_member(folder / LOG, LOG), *_copy_files(state_folder, folder)]
            write(file, folder, _build_manifest(checked, tuple(members)))
            sync_folder(file.parent)
    except Refusal as refusal:
        raise (_build_space_refusal(file) if refusal.code == "store_full" else refusal) from refusal
    except OSError as error:
        raise _convert_error(file, error) from error
    return BackupResult(
        file=str(file),
        size=file.stat().st_size,
        streams=checked.streams,
        facts=checked.facts,
        blobs=checked.blobs,
        damages=len(checked.damages),
        project=project,
    )


@contextlib.contextmanager
def _create_temporary_folder(parent: Path) -> Generator[Path]:
    """Provide a locked folder for the copy, and remove those of interrupted backups.

    They contain copies of a log, and so sessions that may have been deleted.
    """
    for leftover in parent.glob(f"{_COPY}*"):
        with contextlib.suppress(OSError), _lock_folder(leftover):
            shutil.rmtree(leftover)
    with tempfile.TemporaryDirectory(dir=parent, prefix=_COPY) as name, contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            # If this file system has no locks, no other process removes the folder either.
            stack.enter_context(_lock_folder(Path(name)))
        yield Path(name)


@contextlib.contextmanager
def _lock_folder(folder: Path) -> Generator[None]:
    """Lock a folder. Raises OSError if another process holds it, or if the file system has no locks."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(handle)


def _find_project(state_folder: StateFolder, file: Path) -> str:
    """Return the opened folder that contains the file, or empty."""
    real = file.resolve()
    return next(
        (folder for folder in list_opened_folders(state_folder.store) if real.is_relative_to(Path(folder).resolve())),
        "",
    )


def _build_exposed_refusal(file: Path, project: str) -> Refusal:
    return Refusal(
        "invalid_input",
        f"{file} is in {project}, where agents work. They could read the sessions of all folders in the backup.",
        field="PLACE",
        hint="Give a path outside it, or add --in-project.",
    )


def _resolve_target(target: Path, *, force: bool) -> Path:
    file = target.absolute()
    if file.is_dir():
        file /= f"callboard-{datetime.now(UTC):%Y%m%d-%H%M%S}.tar"
    if not file.parent.is_dir():
        raise Refusal("invalid_input", f"There is no folder {file.parent}.", field="PLACE", hint="Create it first.")
    if file.exists() and not force:
        raise Refusal(
            "invalid_input", f"The file {file} exists.", field="PLACE", hint="Give another name, or add --force."
        )
    return file


def _copy_files(state_folder: StateFolder, folder: Path) -> list[Member]:
    """Copy settings, secret names and uploads. The copies are hashed and packed, so changes to the originals do no harm."""
    members: list[Member] = []
    paths = [state_folder.folder / name for name in FILES]
    for path in paths:
        if path.exists() and not path.is_file():
            raise build_path_refusal(path, "it is not a regular file")
    if state_folder.uploads.is_dir():
        paths += sorted(path for path in state_folder.uploads.iterdir() if path.is_file())
    for path in paths:
        name = path.relative_to(state_folder.folder).as_posix()
        copy = folder / name
        copy.parent.mkdir(mode=0o700, exist_ok=True)
        try:
            shutil.copyfile(path, copy)
        except FileNotFoundError:
            # An optional file, or an expired upload.
            continue
        members.append(describe_member(copy, name))
    return members


def _build_manifest(checked: Checked, members: tuple[Member, ...]) -> Manifest:
    return Manifest(
        format=FORMAT,
        version=__version__,
        made_at=time.time_ns() // 1000,
        store_id=checked.store_id,
        streams=checked.streams,
        facts=checked.facts,
        blobs=checked.blobs,
        members=members,
        damages=len(checked.damages),
    )


def _drop_side_files(folder: Path) -> None:
    for path in folder.iterdir():
        if path.name != Path(LOG).name:
            path.unlink()


def _build_space_refusal(file: Path) -> Refusal:
    return Refusal(
        "store_full",
        f"There is not enough space for the backup in {file.parent}.",
        field="PLACE",
        hint="Free space there, or give another path. Writing a backup needs twice the size of the log.",
    )


def _convert_error(file: Path, error: OSError) -> Refusal:
    if is_full(error):
        return _build_space_refusal(file)
    if error.errno in _CLOSED and Path(error.filename or file).parent == file.parent:
        message = f"The backup cannot be written to {file.parent}: {error.strerror}."
        return Refusal("invalid_input", message, field="PLACE", hint="Give a writable folder.")
    return build_path_refusal(file, error)


def _build_damaged_refusal(checked: Checked) -> Refusal:
    rest = f" And {len(checked.damages) - 1} more." if checked.damages[1:] else ""
    return Refusal(
        "chain_broken",
        f"The store is damaged. No backup was written. {checked.damages[0].message}{rest}",
        hint="`callboard check` lists all damage. Add --damaged to back it up as it is.",
    )
