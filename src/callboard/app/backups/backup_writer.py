"""Making a backup, beside the process that writes or without one."""

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
from callboard.log.sqlite.upkeep.checking import check_store
from callboard.log.sqlite.upkeep.copying import copy_log
from callboard.log.sqlite.upkeep.damage import Checked
from callboard.log.sqlite.upkeep.folders import list_opened_folders

from ..state_folder import StateFolder, sync_folder, unusable_path
from .archive import FILES, FORMAT, LOG, Manifest, Member, describe_member, write

_CLOSED = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
#: What is left out, and why, in the words that a person reads.
LEFT_OUT = (
    "views.db (made anew from the log)",
    "the values of secrets (they are in the system's keyring)",
    "the token and the log of incidents",
)
_STORE = "store"
#: What the folder of the copy begins with.
_COPY = ".callboard-backup-"


class BackupResult(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A backup that was made. `size` is in bytes; `project` is the folder in which agents can read it, empty for none."""

    file: str
    size: int
    streams: int
    facts: int
    blobs: int
    damages: int = 0
    left_out: tuple[str, ...] = LEFT_OUT
    project: str = ""


def back_up(
    home: StateFolder,
    place: Path,
    *,
    force: bool = False,
    damaged: bool = False,
    in_project: bool = False,
    progress: Callable[[str], None],
) -> BackupResult:
    """Write a backup of the state folder to a file, or into a folder under a name with the time.

    Copies the log as of one moment, checks the whole copy, and then packs it with the settings, the names of secrets and the
    uploads. Blocks.

    Args:
        force: Replace a file that is there.
        damaged: Back up a store that is damaged, as it is.
        in_project: Allow a place in a folder that was opened, where agents can read the backup.
    Raises:
        Refusal: `unknown_session` where there is no store, `invalid_input` for a place that cannot be written
            or that agents can read without `in_project`,
            `chain_broken` where the store is damaged, `store_full`, `store_unusable`.
    Example:
        made = back_up(home, Path("/mnt/disk"), progress=print)
    """
    place = _place(place, force=force)
    project = _project_of(home, place)
    if project and not in_project:
        raise _exposed(place, project)
    try:
        with _copying_beside(place) as folder:
            (folder / _STORE).mkdir(mode=0o700)
            progress("copying the log")
            copy_log(home.store, folder / _STORE)
            checked = check_store(folder / _STORE, progress=progress)
            if checked.damages and not damaged:
                raise _damaged(checked)
            _drop_side_files(folder / _STORE)
            progress("packing")
            members = [describe_member(folder / LOG, LOG), *_files(home, folder)]
            write(place, folder, _manifest(checked, tuple(members)))
            sync_folder(place.parent)
    except Refusal as refusal:
        raise (_no_room(place) if refusal.code == "store_full" else refusal) from refusal
    except OSError as error:
        raise _unwritten(place, error) from error
    return BackupResult(
        file=str(place),
        size=place.stat().st_size,
        streams=checked.streams,
        facts=checked.facts,
        blobs=checked.blobs,
        damages=len(checked.damages),
        project=project,
    )


@contextlib.contextmanager
def _copying_beside(place: Path) -> Generator[Path]:
    """Make a folder for the copy, locked while this process works on it, and remove what interrupted backups left.

    What they left are copies of a log, with sessions that may be deleted meanwhile.
    """
    for left in place.parent.glob(f"{_COPY}*"):
        with contextlib.suppress(OSError), _locked(left):
            shutil.rmtree(left)
    with tempfile.TemporaryDirectory(dir=place.parent, prefix=_COPY) as name, contextlib.ExitStack() as held:
        with contextlib.suppress(OSError):
            # Without locks on this file system no other process removes it either.
            held.enter_context(_locked(Path(name)))
        yield Path(name)


@contextlib.contextmanager
def _locked(folder: Path) -> Generator[None]:
    """Lock a folder. Raises OSError where another process holds it, or where the file system has no locks."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(handle)


def _project_of(home: StateFolder, place: Path) -> str:
    """Return the opened folder that a place is in; empty where it is in none."""
    real = place.resolve()
    return next((one for one in list_opened_folders(home.store) if real.is_relative_to(Path(one).resolve())), "")


def _exposed(place: Path, project: str) -> Refusal:
    return Refusal(
        "invalid_input",
        f"{place} is in {project}, where agents work: they could read the sessions of all folders in the backup.",
        field="PLACE",
        hint="Name a place outside of it, or add --in-project to write it there.",
    )


def _place(place: Path, *, force: bool) -> Path:
    place = place.absolute()
    if place.is_dir():
        place /= f"callboard-{datetime.now(UTC):%Y%m%d-%H%M%S}.tar"
    if not place.parent.is_dir():
        raise Refusal("invalid_input", f"There is no folder {place.parent}.", field="PLACE", hint="Make it first.")
    if place.exists() and not force:
        raise Refusal(
            "invalid_input", f"There is a file {place}.", field="PLACE", hint="Name another one, or add --force."
        )
    return place


def _files(home: StateFolder, folder: Path) -> list[Member]:
    """Copy what is truth beside the log, so that what is hashed is what is packed."""
    members: list[Member] = []
    wanted = [home.folder / name for name in FILES]
    for path in wanted:
        if path.exists() and not path.is_file():
            raise unusable_path(path, "it is not a regular file")
    if home.uploads.is_dir():
        wanted += sorted(path for path in home.uploads.iterdir() if path.is_file())
    for path in wanted:
        name = path.relative_to(home.folder).as_posix()
        copy = folder / name
        copy.parent.mkdir(mode=0o700, exist_ok=True)
        try:
            shutil.copyfile(path, copy)
        except FileNotFoundError:
            # Not set, or an upload whose day is over.
            continue
        members.append(describe_member(copy, name))
    return members


def _manifest(checked: Checked, members: tuple[Member, ...]) -> Manifest:
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


def _no_room(place: Path) -> Refusal:
    return Refusal(
        "store_full",
        f"There is no room for the backup in {place.parent}.",
        field="PLACE",
        hint="Free space there, or name another place. A backup needs twice the size of the log while it is made.",
    )


def _unwritten(place: Path, error: OSError) -> Refusal:
    if is_full(error):
        return _no_room(place)
    if error.errno in _CLOSED and Path(error.filename or place).parent == place.parent:
        message = f"The backup cannot be written to {place.parent}: {error.strerror}."
        return Refusal("invalid_input", message, field="PLACE", hint="Name a folder that you may write to.")
    return unusable_path(place, error)


def _damaged(checked: Checked) -> Refusal:
    first = checked.damages[0]
    more = f" And {len(checked.damages) - 1} more." if checked.damages[1:] else ""
    return Refusal(
        "chain_broken",
        f"The store is damaged, so no backup was written. {first.message}{more}",
        hint="`callboard check` lists all of it. Add --damaged to back it up as it is.",
    )
