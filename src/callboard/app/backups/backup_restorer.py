"""Restoring a backup completely or not at all. The former files are kept."""

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
from callboard.log.sqlite.upkeep.damage import Checked
from callboard.log.sqlite.upkeep.log_copy import migrate_log, raise_epoch, read_epoch
from callboard.log.sqlite.upkeep.store_check import check_store

from ..state_folder import StateFolder, build_path_refusal, read_regular, sync_folder, write_private
from .archive import FILES, UPLOADS, unpack

#: What a backup replaces, in this order. The restored state takes effect with the store.
_NAMES = (UPLOADS, *FILES, "store")
#: The folder of the new files, the file that decides the restore, and the marker in the new store.
_STAGED, _MARK, _NEW = ".restoring", "restoring.json", "restored"
#: Prefix of the folder in which a backup is unpacked.
_UNPACKED = ".restore-"
#: Flags and handle of `renameat2`.
_EXCHANGE = 2
_AT_FDCWD = -100


class _Swap(msgspec.Struct, frozen=True, kw_only=True):
    """A decided restore. The former files of `names` are renamed to end in `ending`."""

    ending: str
    names: tuple[str, ...]


class RestoreResult(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A restored backup. `former` are the paths of the former folder and files."""

    file: str
    made_at: int
    version: str
    streams: int
    facts: int
    blobs: int
    former: tuple[str, ...] = ()


def restore(
    state_folder: StateFolder,
    file: Path,
    *,
    replace: bool = False,
    damaged: bool = False,
    progress: Callable[[str], None],
) -> RestoreResult:
    """Replace the state folder's store, settings, secret names and uploads with a backup.

    The backup is unpacked and checked completely before any file changes. The former files keep names that end in the time.
    Blocks.

    Args:
        replace: Permission to replace a store.
        damaged: Permission to restore a damaged backup.
    Raises:
        Refusal: `store_exists` without `replace`, `store_locked` while a process writes, `invalid_input` for an incomplete or
            invalid file, `chain_broken` for a damaged backup, `store_full`, `store_unusable`.
    Example:
        restore(state_folder, Path("callboard-20260101-120000.tar"), replace=True, progress=print)
    """
    if not file.is_file():
        hint = "Give a file from `callboard backup`."
        raise Refusal("invalid_input", f"There is no file {file}.", field="FILE", hint=hint)
    state_folder.create()
    finish_restore(state_folder)
    with contextlib.ExitStack() as stack:
        if state_folder.has_store() and not replace:
            raise _build_exists_refusal(state_folder)
        try:
            stack.enter_context(_lock_store(state_folder, replace=replace))
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=state_folder.folder, prefix=_UNPACKED)))
            progress("unpacking")
            manifest = unpack(file, folder)
            migrate_log(folder / "store")
            checked = check_store(folder / "store", progress=progress)
            if checked.damages and not damaged:
                raise _build_damaged_refusal(file, checked)
            for path in (folder / "store").iterdir():
                if path.name != "callboard.db":
                    path.unlink()
            raise_epoch(folder / "store", read_epoch(state_folder.store))
            progress("replacing the files")
            former = _swap(state_folder, folder)
        except OSError as error:
            raise build_path_refusal(state_folder.folder, error) from error
    return RestoreResult(
        file=str(file),
        made_at=manifest.made_at,
        version=manifest.version,
        streams=checked.streams,
        facts=checked.facts,
        blobs=checked.blobs,
        former=former,
    )


@contextlib.contextmanager
def _lock_store(state_folder: StateFolder, *, replace: bool) -> Generator[None]:
    """Lock the store's folder, created if missing: no process can open the store in the meantime."""
    is_new = not state_folder.store.exists()
    state_folder.store.mkdir(mode=0o700, exist_ok=True)
    lock = WriterLock(state_folder.store)
    try:
        if (state_folder.store / FACTS).exists() and not replace:
            raise _build_exists_refusal(state_folder)
        yield
    finally:
        if is_new and not (state_folder.store / FACTS).exists():
            shutil.rmtree(state_folder.store)
        lock.release()


def finish_restore(state_folder: StateFolder) -> None:
    """Finish a decided restore that was interrupted, and remove leftovers of others.

    Leftovers are copies of a log, which may contain sessions that have been deleted.

    Raises:
        Refusal: `store_locked` while another process restores or writes, `store_unusable`, `store_full`.
    """
    leftovers = [*state_folder.folder.glob(f"{_UNPACKED}*"), *state_folder.folder.glob(_STAGED)]
    if not leftovers and not (state_folder.folder / _MARK).exists():
        return
    try:
        with _lock_store(state_folder, replace=True), _lock_staging(state_folder):
            _replace_all(state_folder)
            for folder in (*leftovers, state_folder.folder / _STAGED):
                shutil.rmtree(folder, ignore_errors=True)
    except OSError as error:
        raise build_path_refusal(state_folder.folder, error) from error


def _swap(state_folder: StateFolder, folder: Path) -> tuple[str, ...]:
    """Replace the former files with those of the folder, all or none.

    The new files are first staged next to the former ones. Writing the mark decides the restore: before it nothing has changed,
    after it `finish_restore` can always continue.
    """
    staged, mark = state_folder.folder / _STAGED, state_folder.folder / _MARK
    shutil.rmtree(staged, ignore_errors=True)
    names = tuple(name for name in _NAMES if (folder / name).exists())
    with _lock_staging(state_folder):
        try:
            for name in names:
                (folder / name).rename(staged / name)
            (staged / "store" / _NEW).touch(0o600)
            for path in (staged / "store", staged, state_folder.folder):
                sync_folder(path)
            write_private(
                mark, msgspec.json.encode(_Swap(ending=_find_unused_ending(state_folder.folder), names=names))
            )
        finally:
            if not mark.exists():
                shutil.rmtree(staged, ignore_errors=True)
        return _replace_all(state_folder)


@contextlib.contextmanager
def _lock_staging(state_folder: StateFolder) -> Generator[None]:
    """Lock the folder of the new files: the lock of the store moves away with the store."""
    staged = state_folder.folder / _STAGED
    staged.mkdir(mode=0o700, exist_ok=True)
    lock = WriterLock(staged)
    try:
        yield
    finally:
        lock.release()


def _replace_all(state_folder: StateFolder) -> tuple[str, ...]:
    """Replace the former files with the staged ones, the store last. Continues after an interruption."""
    mark, staged = state_folder.folder / _MARK, state_folder.folder / _STAGED
    try:
        swap = msgspec.json.decode(read_regular(mark), type=_Swap)
    except FileNotFoundError:
        # Another process has finished the restore.
        return ()
    except (OSError, UnicodeDecodeError, msgspec.MsgspecError) as error:
        raise _build_unreadable_refusal(mark, error) from error
    for name in swap.names:
        new, old, aside = staged / name, state_folder.folder / name, state_folder.folder / f"{name}.{swap.ending}"
        if name == "store":
            _replace_store(new, old, aside)
        elif new.exists():
            if old.exists():
                old.rename(aside)
            new.rename(old)
    sync_folder(state_folder.folder)
    mark.unlink()
    sync_folder(state_folder.folder)
    shutil.rmtree(staged, ignore_errors=True)
    former = (state_folder.folder / f"{name}.{swap.ending}" for name in swap.names)
    return tuple(str(path) for path in former if path.exists())


def _replace_store(new: Path, old: Path, aside: Path) -> None:
    """Replace the store, in one step if the file system can exchange folders. A marker identifies the new store."""
    if new.exists() and not (old / _NEW).exists() and not _exchange(new, old):
        if old.exists():
            _move_aside(old, aside)
        new.rename(old)
    if new.exists():
        _move_aside(new, aside)
    (old / _NEW).unlink(missing_ok=True)


def _move_aside(store: Path, aside: Path) -> None:
    if {path.name for path in store.iterdir()} <= {LOCK_FILE}:
        # The folder was created for its lock.
        shutil.rmtree(store)
    else:
        store.rename(aside)


def _find_unused_ending(folder: Path) -> str:
    """Return an ending that no name in the folder has: one process may restore twice in a second."""
    stem = f"before-{datetime.now(UTC):%Y%m%d-%H%M%S}-{os.getpid()}"
    names = [path.name for path in folder.iterdir()]
    endings = (stem if number == 0 else f"{stem}-{number}" for number in itertools.count())
    return next(ending for ending in endings if not any(name.endswith(f".{ending}") for name in names))


def _exchange(left: Path, right: Path) -> bool:
    """Exchange two paths in one step; return False if the system cannot, or if a path is missing."""
    try:
        call = ctypes.CDLL(None, use_errno=True).renameat2
    except AttributeError:
        return False
    return call(_AT_FDCWD, os.fsencode(left), _AT_FDCWD, os.fsencode(right), _EXCHANGE) == 0


def _build_exists_refusal(state_folder: StateFolder) -> Refusal:
    return Refusal(
        "store_exists",
        f"There is a store in {state_folder.store}.",
        hint="Add --replace to replace it. The present store is kept under another name.",
    )


def _build_unreadable_refusal(mark: Path, error: Exception) -> Refusal:
    return Refusal(
        "store_unusable",
        f"A restore was interrupted, and {mark} cannot be read: {getattr(error, 'strerror', None) or error}.",
        hint="Move it away, then restore the backup again with `callboard restore FILE --replace`.",
    )


def _build_damaged_refusal(file: Path, checked: Checked) -> Refusal:
    return Refusal(
        "chain_broken",
        f"The backup {file} is damaged. Nothing was changed. {checked.damages[0].message}",
        hint="Use another backup, or add --damaged to restore it as it is.",
    )
