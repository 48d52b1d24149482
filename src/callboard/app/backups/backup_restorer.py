"""Putting a backup in the place of the store, whole or not at all. What was there before is kept."""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import os
import shutil
import tempfile
from collections.abc import Callable, Generator
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from callboard.contracts.errors import Refusal
from callboard.log.sqlite.lock import LOCK_FILE, WriterLock
from callboard.log.sqlite.schema import FACTS
from callboard.log.sqlite.upkeep.checking import check_store
from callboard.log.sqlite.upkeep.copying import migrate_log, raise_epoch, read_epoch
from callboard.log.sqlite.upkeep.damage import Checked

from ..state_folder import StateFolder, read_regular, sync_folder, unusable_path, write_private
from .archive import FILES, UPLOADS, Manifest, unpack

#: What a backup puts in place, in this order: with the store the restored state is the one that counts.
_NAMES = (UPLOADS, *FILES, "store")
#: The folder of what is to be put in place, the file that says that it must be, and the one in the new store.
_STAGED, _MARK, _NEW = ".restoring", "restoring.json", "restored"
#: What the folder in which a backup is unpacked begins with.
_UNPACKED = ".restore-"
_EXCHANGE = 2
_AT_FDCWD = -100


class _Swap(msgspec.Struct, frozen=True, kw_only=True):
    """A restore that is decided. What was in place of `names` gets names that end with `ending`."""

    ending: str
    names: tuple[str, ...]


class RestoreResult(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A backup that is in place now. `former` are the folder and files that were there before, under their new names."""

    file: str
    made_at: int
    version: str
    streams: int
    facts: int
    blobs: int
    former: tuple[str, ...] = ()


def restore(
    home: StateFolder, place: Path, *, replace: bool = False, damaged: bool = False, progress: Callable[[str], None]
) -> RestoreResult:
    """Put a backup in the place of the state folder's store, settings, names of secrets and uploads.

    The backup is unpacked beside the store, and all of it is checked, before anything is changed. What was there before stays
    under names that end with the time. Blocks.

    Args:
        replace: Allow it where there is a store.
        damaged: Allow a backup of a damaged store.
    Raises:
        Refusal: `store_exists` without `replace`, `store_locked` while a process writes, `invalid_input` for a file that is no
            whole backup, `chain_broken` where what it contains is damaged, `store_full`, `store_unusable`.
    Example:
        restore(home, Path("callboard-20260101-120000.tar"), replace=True, progress=print)
    """
    if not place.is_file():
        hint = "Name the file that `callboard backup` wrote."
        raise Refusal("invalid_input", f"There is no file {place}.", field="FILE", hint=hint)
    home.make()
    finish_restore(home)
    with contextlib.ExitStack() as held:
        if home.has_store() and not replace:
            raise _exists(home)
        try:
            held.enter_context(_locked(home, replace=replace))
            folder = Path(held.enter_context(tempfile.TemporaryDirectory(dir=home.folder, prefix=_UNPACKED)))
            progress("unpacking")
            manifest = unpack(place, folder)
            migrate_log(folder / "store")
            checked = check_store(folder / "store", progress=progress)
            if checked.damages and not damaged:
                raise _damaged(place, checked)
            for path in (folder / "store").iterdir():
                if path.name != "callboard.db":
                    path.unlink()
            raise_epoch(folder / "store", read_epoch(home.store))
            progress("putting it in place")
            former = _swap(home, folder)
        except OSError as error:
            raise unusable_path(home.folder, error) from error
    return _restored(place, manifest, checked, former)


@contextlib.contextmanager
def _locked(home: StateFolder, *, replace: bool) -> Generator[None]:
    """Lock the store's folder, which is made where there is none, so that no process begins to write there meanwhile."""
    made = not home.store.exists()
    home.store.mkdir(mode=0o700, exist_ok=True)
    lock = WriterLock(home.store)
    try:
        if (home.store / FACTS).exists() and not replace:
            raise _exists(home)
        yield
    finally:
        if made and not (home.store / FACTS).exists():
            shutil.rmtree(home.store)
        lock.release()


def finish_restore(home: StateFolder) -> None:
    """Finish a restore that was interrupted after it was decided, and remove what an interrupted one left.

    Does nothing where none was. What is left is a copy of a log, with sessions that may be deleted meanwhile.

    Raises:
        Refusal: `store_locked` while another process restores or writes, `store_unusable`, `store_full`.
    """
    left = [*home.folder.glob(f"{_UNPACKED}*"), *home.folder.glob(_STAGED)]
    if not left and not (home.folder / _MARK).exists():
        return
    try:
        with _locked(home, replace=True), _staging(home):
            _put_all(home)
            for folder in (*left, home.folder / _STAGED):
                shutil.rmtree(folder, ignore_errors=True)
    except OSError as error:
        raise unusable_path(home.folder, error) from error


def _swap(home: StateFolder, folder: Path) -> tuple[str, ...]:
    """Put what is in the folder in place, all of it or nothing.

    The new files are moved beside the old ones first. The file that names them is the decision: before it nothing that counts
    has changed; after it `finish_restore` continues, here or at the next start.
    """
    staged, mark = home.folder / _STAGED, home.folder / _MARK
    shutil.rmtree(staged, ignore_errors=True)
    names = tuple(name for name in _NAMES if (folder / name).exists())
    with _staging(home):
        try:
            for name in names:
                (folder / name).rename(staged / name)
            (staged / "store" / _NEW).touch(0o600)
            for place in (staged / "store", staged, home.folder):
                sync_folder(place)
            write_private(mark, msgspec.json.encode(_Swap(ending=_unused_ending(home.folder), names=names)))
        finally:
            if not mark.exists():
                shutil.rmtree(staged, ignore_errors=True)
        return _put_all(home)


@contextlib.contextmanager
def _staging(home: StateFolder) -> Generator[None]:
    """Lock the folder of what is to be put in place: the lock of the store moves away with the store."""
    staged = home.folder / _STAGED
    staged.mkdir(mode=0o700, exist_ok=True)
    lock = WriterLock(staged)
    try:
        yield
    finally:
        lock.release()


def _put_all(home: StateFolder) -> tuple[str, ...]:
    """Put all that is staged in place, the store last. Done again after an interruption it continues where that was."""
    mark, staged = home.folder / _MARK, home.folder / _STAGED
    try:
        swap = msgspec.json.decode(read_regular(mark), type=_Swap)
    except FileNotFoundError:
        # Another process has finished it meanwhile.
        return ()
    except (OSError, UnicodeDecodeError, msgspec.MsgspecError) as error:
        raise _unreadable(mark, error) from error
    for name in swap.names:
        new, old, aside = staged / name, home.folder / name, home.folder / f"{name}.{swap.ending}"
        if name == "store":
            _put_store(new, old, aside)
        elif new.exists():
            if old.exists():
                old.rename(aside)
            new.rename(old)
    sync_folder(home.folder)
    mark.unlink()
    sync_folder(home.folder)
    shutil.rmtree(staged, ignore_errors=True)
    former = (home.folder / f"{name}.{swap.ending}" for name in swap.names)
    return tuple(str(one) for one in former if one.exists())


def _put_store(new: Path, old: Path, aside: Path) -> None:
    """Put the store in its place in one step where the file system can exchange two folders. A file in the new one says which
    of the two is in place."""
    if new.exists() and not (old / _NEW).exists() and not _exchange(new, old):
        if old.exists():
            _put_aside(old, aside)
        new.rename(old)
    if new.exists():
        _put_aside(new, aside)
    (old / _NEW).unlink(missing_ok=True)


def _put_aside(store: Path, aside: Path) -> None:
    if {path.name for path in store.iterdir()} <= {LOCK_FILE}:
        # Made to be locked: there was no store.
        shutil.rmtree(store)
    else:
        store.rename(aside)


def _unused_ending(folder: Path) -> str:
    """Return an ending that no name in the folder has yet: one process may restore twice in a second."""
    begin = f"before-{datetime.now(UTC):%Y%m%d-%H%M%S}-{os.getpid()}"
    names = [path.name for path in folder.iterdir()]
    endings = (begin if again == 0 else f"{begin}-{again}" for again in itertools.count())
    return next(ending for ending in endings if not any(name.endswith(f".{ending}") for name in names))


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two names in one step; False where the system cannot, or where one of them is not there."""
    try:
        call = ctypes.CDLL(None, use_errno=True).renameat2
    except AttributeError:
        return False
    return call(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _EXCHANGE) == 0


def _restored(place: Path, manifest: Manifest, checked: Checked, former: tuple[str, ...]) -> RestoreResult:
    return RestoreResult(
        file=str(place),
        made_at=manifest.made_at,
        version=manifest.version,
        streams=checked.streams,
        facts=checked.facts,
        blobs=checked.blobs,
        former=former,
    )


def _exists(home: StateFolder) -> Refusal:
    return Refusal(
        "store_exists",
        f"There is a store in {home.store}.",
        hint="Add --replace to restore over it: the present store is kept under another name.",
    )


def _unreadable(mark: Path, error: Exception) -> Refusal:
    return Refusal(
        "store_unusable",
        f"A restore was interrupted, and {mark} cannot be read: {getattr(error, 'strerror', None) or error}.",
        hint="Move it away, then restore the backup again with `callboard restore FILE --replace`.",
    )


def _damaged(place: Path, checked: Checked) -> Refusal:
    return Refusal(
        "chain_broken",
        f"What {place} contains is damaged, so nothing was changed. {checked.damages[0].message}",
        hint="Use another backup, or add --damaged to restore it as it is.",
    )
