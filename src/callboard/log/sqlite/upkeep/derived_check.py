"""The check of `views.db`: the file, and each value in it against its checksum."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from ..derived import unprotect
from ..failures import primary_code
from ..schema import APPLICATION, VIEWS_LAYOUT, connect_reader
from .damage import Damage, describe_damage

#: The most that SQLite reports of the file itself.
_MOST = 20
#: How many rows a quick look reads: the newest.
_QUICK_ROWS = 2000
#: What says nothing of the bytes in the file: another program's lock, and a disk without room or without permission.
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
_REBUILT = (
    "Nothing is lost: stop Callboard, delete views.db and start it again, which makes views.db anew from the log."
)


def check_views(path: Path, store: str, last_of: Callable[[str], int | None], *, whole: bool) -> tuple[Damage, ...]:
    """Check the derived data of a store. Views of an older layout are no damage: the next start replaces them.

    Args:
        store: The id of the store that they must be of.
        last_of: The newest sequence of a stream; None where the log cannot say.
        whole: False reads the newest rows only, and not the structure of the file.
    Returns:
        A damage for the file, or at most one for each stream.
    """
    try:
        with closing(connect_reader(path)) as connection:
            marks = tuple(
                connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")
            )
            if marks != (APPLICATION, VIEWS_LAYOUT):
                return ()
            if whole and (found := _file(connection, path)):
                return found
            if connection.execute("SELECT store FROM views_of").fetchall() != [(store,)]:
                return (describe_damage("views", str(path), "The views are not those of this store.", advice=_REBUILT),)
            return _values(connection, last_of, whole=whole)
    except sqlite3.Error as error:
        if primary_code(error) in _NO_DAMAGE:
            raise
        return (describe_damage("views", str(path), f"The file cannot be read: {error}.", advice=_REBUILT),)


def _file(connection: sqlite3.Connection, path: Path) -> tuple[Damage, ...]:
    lines = connection.execute(f"PRAGMA integrity_check({_MOST})").fetchall()
    return tuple(
        describe_damage("views", str(path), f"SQLite finds: {line}.", advice=_REBUILT)
        for (line,) in lines
        if line != "ok"
    )


def _values(connection: sqlite3.Connection, last_of: Callable[[str], int | None], *, whole: bool) -> tuple[Damage, ...]:
    found: dict[str, Damage] = {}

    def note(stream: str, what: str, sequence: int = 0) -> None:
        found.setdefault(stream, describe_damage("views", stream, what, sequence))

    for stream, mark, version, state in connection.execute(
        "SELECT stream, watermark, fingerprint, CAST(state AS BLOB) FROM views"
    ).fetchall():
        last = last_of(stream)
        if last is not None and isinstance(mark, int) and mark > last:
            note(stream, f"The views of {stream} show fact {mark}; the log ends at {last}.", mark)
        if unprotect(state, stream, mark, version) is None:
            note(stream, f"The view state of {stream} is not what was written.")
    for stream, sequence, link, version, state in connection.execute(
        "SELECT stream, sequence, CAST(link AS BLOB), fingerprint, CAST(state AS BLOB) FROM snapshots"
    ).fetchall():
        if unprotect(state, stream, sequence, link, version) is None:
            note(stream, f"The snapshot of {stream} is not what was written.")
    rows = connection.execute(_ROWS if whole else f"{_ROWS} DESC LIMIT {_QUICK_ROWS}")
    for stream, panel, key, place, data in rows:
        if unprotect(data, stream, panel, key, place) is None:
            note(f"{stream}", f"The row {key} of the panel {panel} of {stream} is not what was written.")
    return tuple(found.values())
