"""The check of `views.db`: the file and the checksum of each value."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from ..failures import get_primary_code
from ..schema import connect_reader
from ..views.views_file import has_views_layout, unprotect
from .damage import Damage, describe_damage

#: Maximum number of errors that SQLite reports for the file.
_MAX_ERRORS = 20
#: Newest rows that a quick check reads.
_QUICK_ROWS = 2000
#: Errors without damage: another program's lock, a full disk, missing permission.
_NO_DAMAGE = (
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_INTERRUPT,
)
_ROWS = (
    "SELECT stream, panels.panel, key, place, CAST(data AS BLOB) FROM rows LEFT JOIN panels ON panels.number = rows.panel"
    " ORDER BY rows.number"
)
_REBUILT = "No data is lost. Stop Callboard, delete views.db and start again to rebuild it from the log."


def check_views(path: Path, store: str, last_of: Callable[[str], int | None], *, whole: bool) -> tuple[Damage, ...]:
    """Check the derived data of a store. Other layouts pass, because the next start replaces them.

    Args:
        last_of: Returns the newest sequence of a stream; None if its end is damaged.
        whole: False checks the newest rows only, and not the structure of the file.
    Returns:
        A damage for the file, or at most one for each stream.
    """
    try:
        with closing(connect_reader(path)) as connection:
            if not has_views_layout(connection):
                return ()
            if whole and (damages := _check_file(connection, path)):
                return damages
            if connection.execute("SELECT store FROM views_of").fetchall() != [(store,)]:
                return (describe_damage("views", str(path), "The views belong to another store.", advice=_REBUILT),)
            return _check_values(connection, last_of, whole=whole)
    except sqlite3.Error as error:
        if get_primary_code(error) in _NO_DAMAGE:
            raise
        return (describe_damage("views", str(path), f"The file cannot be read: {error}.", advice=_REBUILT),)


def _check_file(connection: sqlite3.Connection, path: Path) -> tuple[Damage, ...]:
    lines = connection.execute(f"PRAGMA integrity_check({_MAX_ERRORS})").fetchall()
    return tuple(
        describe_damage("views", str(path), f"SQLite reports: {line}.", advice=_REBUILT)
        for (line,) in lines
        if line != "ok"
    )


def _check_values(
    connection: sqlite3.Connection, last_of: Callable[[str], int | None], *, whole: bool
) -> tuple[Damage, ...]:
    damages: dict[str, Damage] = {}

    def add(stream: str, message: str, sequence: int = 0) -> None:
        damages.setdefault(stream, describe_damage("views", stream, message, sequence))

    for stream, mark, version, state in connection.execute(
        "SELECT stream, watermark, fingerprint, CAST(state AS BLOB) FROM views"
    ).fetchall():
        last = last_of(stream)
        if last is not None and isinstance(mark, int) and mark > last:
            add(stream, f"The views of {stream} include fact {mark}, but the log ends at {last}.", mark)
        if unprotect(state, stream, mark, version) is None:
            add(stream, f"The view state of {stream} has an invalid checksum.")
    for stream, sequence, link, version, state in connection.execute(
        "SELECT stream, sequence, CAST(link AS BLOB), fingerprint, CAST(state AS BLOB) FROM snapshots"
    ).fetchall():
        if unprotect(state, stream, sequence, link, version) is None:
            add(stream, f"The snapshot of {stream} has an invalid checksum.")
    for stream, thread, sequence, link, version, data in connection.execute(
        "SELECT stream, thread, sequence, CAST(link AS BLOB), fingerprint, CAST(data AS BLOB) FROM conversations"
    ):
        if unprotect(data, stream, thread, sequence, link, version) is None:
            add(f"{stream}", f"The conversation of {thread} in {stream} has an invalid checksum.")
    rows = connection.execute(_ROWS if whole else f"{_ROWS} DESC LIMIT {_QUICK_ROWS}")
    for stream, panel, key, place, data in rows:
        if unprotect(data, stream, panel, key, place) is None:
            add(f"{stream}", f"The row {key} of the panel {panel} of {stream} has an invalid checksum.")
    return tuple(damages.values())
