"""Putting a backup in the place of the store. The former store is kept, and the swap is one step of the file system."""

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
from callboard.log.sqlite.lock import NAME as LOCK
from callboard.log.sqlite.lock import WriterLock
from callboard.log.sqlite.schema import FACTS
from callboard.log.sqlite.upkeep.checking import check_store
from callboard.log.sqlite.upkeep.copying import epoch_of, migrate_log, raise_epoch
from callboard.log.sqlite.upkeep.damage import Checked

from ..home import Home, sync_folder, unusable
from .archive import Manifest, unpack

_EXCHANGE = 2
_AT_FDCWD = -100


class Restored(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A backup that is in place now. `former` are the folder and files that were there before, under their new names."""

    file: str
    made_at: int
    version: str
    streams: int
    facts: int
    blobs: int
    former: tuple[str, ...] = ()


def restore(
    home: Home, place: Path, *, replace: bool = False, damaged: bool = False, progress: Callable[[str], None]
) -> Restored:
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
    with contextlib.ExitStack() as held:
        if home.has_store() and not replace:
            raise _exists(home)
        try:
            held.enter_context(_locked(home, replace=replace))
            folder = Path(held.enter_context(tempfile.TemporaryDirectory(dir=home.folder, prefix=".restore-")))
            progress("unpacking")
            manifest = unpack(place, folder)
            migrate_log(folder / "store")
            checked = check_store(folder / "store", progress=progress)
            if checked.damages and not damaged:
                raise _damaged(place, checked)
            for path in (folder / "store").iterdir():
                if path.name != "callboard.db":
                    path.unlink()
            raise_epoch(folder / "store", epoch_of(home.store))
            progress("putting it in place")
            former = _swap(home, folder)
        except OSError as error:
            raise unusable(home.folder, error) from error
    return _restored(place, manifest, checked, former)


@contextlib.contextmanager
def _locked(home: Home, *, replace: bool) -> Generator[None]:
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


def _swap(home: Home, folder: Path) -> tuple[str, ...]:
    """Put what is in the folder in place: the store last, since with it the restored state is the one that counts."""
    mark = _unused_mark(home.folder)
    former: list[str] = []
    for name in ("uploads", "settings.toml", "secrets.json"):
        new, old = folder / name, home.folder / name
        if new.exists():
            _put(new, old, home.folder / f"{name}.{mark}", former)
    sync_folder(folder / "store")
    _put(folder / "store", home.store, home.folder / f"store.{mark}", former)
    return tuple(former)


def _unused_mark(folder: Path) -> str:
    """Return an ending that no name in the folder has yet: one process may restore twice in a second."""
    begin = f"before-{datetime.now(UTC):%Y%m%d-%H%M%S}-{os.getpid()}"
    names = [path.name for path in folder.iterdir()]
    marks = (begin if again == 0 else f"{begin}-{again}" for again in itertools.count())
    return next(mark for mark in marks if not any(name.endswith(f".{mark}") for name in names))


def _put(new: Path, old: Path, aside: Path, former: list[str]) -> None:
    """Put a file or folder in its place, and what was there aside. There is one or the other at every moment."""
    if not old.exists():
        new.rename(old)
        sync_folder(old.parent)
        return
    # Never by way of the folder that was unpacked into: it is removed in the end, whatever happens.
    new.rename(aside)
    if not _exchange(aside, old):
        # A file system that cannot exchange: what was there is kept all the time, under one name or the other.
        aside.rename(new)
        old.rename(aside)
        new.rename(old)
    if aside.is_dir() and {path.name for path in aside.iterdir()} <= {LOCK}:
        # Made to be locked: there was no store.
        shutil.rmtree(aside)
    else:
        former.append(str(aside))
    sync_folder(old.parent)


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two names in one step; False where the system cannot."""
    try:
        call = ctypes.CDLL(None, use_errno=True).renameat2
    except AttributeError:
        return False
    return call(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _EXCHANGE) == 0


def _restored(place: Path, manifest: Manifest, checked: Checked, former: tuple[str, ...]) -> Restored:
    return Restored(
        file=str(place),
        made_at=manifest.made_at,
        version=manifest.version,
        streams=checked.streams,
        facts=checked.facts,
        blobs=checked.blobs,
        former=former,
    )


def _exists(home: Home) -> Refusal:
    return Refusal(
        "store_exists",
        f"There is a store in {home.store}.",
        hint="Add --replace to restore over it: the present store is kept under another name.",
    )


def _damaged(place: Path, checked: Checked) -> Refusal:
    return Refusal(
        "chain_broken",
        f"What {place} contains is damaged, so nothing was changed. {checked.damages[0].message}",
        hint="Use another backup, or add --damaged to restore it as it is.",
    )
