"""Migrations of a store from older layouts."""

from __future__ import annotations

import logging
import os
import sqlite3
from collections.abc import Callable, Mapping
from pathlib import Path

from .failures import build_unusable_refusal

log = logging.getLogger(__name__)

Step = Callable[[sqlite3.Connection], None]

#: The step from each layout to the next. It runs within a transaction and does not commit.
STEPS: Mapping[int, Step] = {}


def migrate(connection: sqlite3.Connection, path: Path, *, to: int, steps: Mapping[int, Step]) -> None:
    """Migrate a store to the layout `to`, all steps or none.

    First makes a complete copy, `callboard.db.layout-<n>`, mode 0600, in the same folder.

    Raises:
        Refusal: `store_unusable` if a step is missing.
    """
    (layout,) = connection.execute("PRAGMA user_version").fetchone()
    if layout >= to:
        return
    missing = [number for number in range(layout, to) if number not in steps]
    if missing:
        raise build_unusable_refusal(str(path), f"there is no migration from its layout {missing[0]}")
    copy = path.with_name(f"{path.name}.layout-{layout}")
    _copy(connection, copy)
    connection.execute("BEGIN IMMEDIATE")
    try:
        for number in range(layout, to):
            steps[number](connection)
        connection.execute(f"PRAGMA user_version = {to}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    log.warning("the store %s was migrated from layout %s to %s; a copy of it is %s", path, layout, to, copy)


def sync(path: Path) -> None:
    """Make the content of a file or folder durable."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _copy(connection: sqlite3.Connection, copy: Path) -> None:
    copy.unlink(missing_ok=True)
    os.close(os.open(copy, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    connection.execute("VACUUM INTO ?", (str(copy),))
    sync(copy)
