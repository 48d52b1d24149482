"""What makes a store of an older layout one of the present layout."""

from __future__ import annotations

import logging
import os
import sqlite3
from collections.abc import Callable, Mapping
from pathlib import Path

from .failures import unusable

log = logging.getLogger(__name__)

Step = Callable[[sqlite3.Connection], None]

#: By the layout that it starts from: the step to the next layout. A step runs within a transaction and commits nothing.
STEPS: Mapping[int, Step] = {}


def migrate(connection: sqlite3.Connection, path: Path, *, to: int, steps: Mapping[int, Step]) -> None:
    """Bring a store to the layout `to`, all steps or none, and leave a copy of it as it was.

    The copy is `callboard.db.layout-<n>` beside the store, mode 0600. It is whole before the first step begins.

    Raises:
        Refusal: `store_unusable` where a step is missing.
    """
    (layout,) = connection.execute("PRAGMA user_version").fetchone()
    if layout >= to:
        return
    missing = [number for number in range(layout, to) if number not in steps]
    if missing:
        raise unusable(str(path), f"no migration from its layout {missing[0]} is known")
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
    log.warning("the store %s was brought from layout %s to %s; a copy of it is %s", path, layout, to, copy)


def _copy(connection: sqlite3.Connection, copy: Path) -> None:
    copy.unlink(missing_ok=True)
    os.close(os.open(copy, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    connection.execute("VACUUM INTO ?", (str(copy),))
    handle = os.open(copy, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
