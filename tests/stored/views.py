"""Changes of stored rows, view states, snapshots and conversations from outside."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec

from callboard.log.sqlite.views.views_file import protect

Place = tuple[str | int | bytes, ...]


def replace_view_states(folder: Path, state: bytes) -> int:
    """Replace each view state, with a valid checksum. Return their number."""
    with closing(sqlite3.connect(folder / "views.db", isolation_level=None)) as views:
        rows = views.execute("SELECT stream, watermark, fingerprint FROM views").fetchall()
        for place in rows:
            views.execute("UPDATE views SET state = ? WHERE stream = ?", (protect(state, *place), place[0]))
        return len(rows)


def replace_snapshots(folder: Path, state: bytes) -> int:
    """Replace each snapshot, with a valid checksum. Return their number."""
    with closing(sqlite3.connect(folder / "views.db", isolation_level=None)) as views:
        rows = views.execute("SELECT stream, sequence, link, fingerprint FROM snapshots").fetchall()
        for place in rows:
            views.execute("UPDATE snapshots SET state = ? WHERE stream = ?", (protect(state, *place), place[0]))
        return len(rows)


def replace_conversations(folder: Path, **changes: Any) -> int:
    """Change each stored conversation, with a valid checksum. Return their number."""
    with closing(sqlite3.connect(folder / "views.db", isolation_level=None)) as views:
        rows = views.execute("SELECT stream, thread, sequence, link, fingerprint, data FROM conversations").fetchall()
        for stream, thread, sequence, link, fingerprint, data in rows:
            now = {"sequence": sequence, "link": link, "fingerprint": fingerprint, **changes}
            place = (stream, thread, now["sequence"], now["link"], now["fingerprint"])
            encoded = msgspec.msgpack.encode(changes["parts"]) if "parts" in changes else data[4:]
            views.execute(
                "INSERT OR REPLACE INTO conversations VALUES (?, ?, ?, ?, ?, ?)", (*place, protect(encoded, *place))
            )
        return len(rows)


def replace_rows(folder: Path, data: bytes) -> int:
    """Replace each row, with a valid checksum. Return their number."""
    with closing(sqlite3.connect(folder / "views.db", isolation_level=None)) as views:
        rows = views.execute(
            "SELECT rows.number, stream, panels.panel, key, place FROM rows JOIN panels ON panels.number = rows.panel"
        ).fetchall()
        for number, *place in rows:
            views.execute("UPDATE rows SET data = ? WHERE number = ?", (protect(data, *place), number))
        return len(rows)


def change(folder: Path, statement: str) -> int:
    """Run a statement on `views.db`. Return the number of changed rows."""
    with closing(sqlite3.connect(folder / "views.db", isolation_level=None)) as views:
        return views.execute(statement).rowcount
