"""View rows, watermarks and snapshots, in a file of their own that is made from the log and may be lost."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import msgspec

from ...contracts.ports.store import Views
from ...contracts.rows import decode_row
from ...contracts.rows.base import Op, Remove, Row, Upsert
from ..panels import check_kept, newest
from .failures import VIEWS, read_only
from .readers import Readers
from .sabotage import Sabotage
from .schema import APPLICATION, VIEWS_SCHEMA, VIEWS_SQL, connect, connect_reader, create, is_empty, prepare
from .writer import Writer


class SqliteRows:
    """The RowStore port. Rows are JSON; `append` is refused with ValueError: it belongs to live frames, never to facts."""

    def __init__(self, folder: Path, store: str, erasures: int, *, writing: bool) -> None:
        """`erasures` counts what the log has erased: views that have not seen the last of it are thrown away."""
        path = folder / VIEWS
        self._writer: Writer | None = None
        if writing:
            discard = partial(_unlink, path)
            self._writer = Writer(_open(path, store, erasures), str(path), _Nothing(), Sabotage(), discard)
            self._readers = Readers(partial(connect_reader, path), str(path), 2, discard)
        else:
            self._readers = Readers(partial(_connect_if_fit, path, store, erasures), str(path), 2)

    async def write(self, stream: str, ops: Sequence[Op], views: Views) -> None:
        check_kept(ops)
        upserts = [
            (op.panel, op.row.key, op.row.order, msgspec.json.encode(op.row)) if isinstance(op, Upsert) else op
            for op in ops
        ]
        await self._writing().do(lambda connection: _write(connection, stream, upserts, views))

    async def views(self, stream: str) -> Views | None:
        row = await self._readers.run(
            lambda connection: connection.execute(
                "SELECT watermark, version, state FROM views WHERE stream = ?", (stream,)
            ).fetchone()
        )
        return None if row is None else Views(watermark=row[0], schema=row[1], state=row[2])

    async def rows(
        self, stream: str, panel: str, *, before: int | None = None, limit: int = 1000, largest: int = 1_000_000
    ) -> tuple[Row, ...]:
        def read(connection: sqlite3.Connection) -> tuple[bytes, ...]:
            found = connection.execute(
                "SELECT place, length(data), data FROM rows WHERE panel = ? AND place < ? ORDER BY place DESC, key DESC",
                (_panel(connection, stream, panel), (1 << 62) if before is None else before),
            )
            with contextlib.closing(found):
                return newest(found, limit, largest)

        return tuple(decode_row(data) for data in await self._readers.run(read))

    async def row(self, stream: str, panel: str, key: str) -> Row | None:
        row = await self._readers.run(
            lambda connection: connection.execute(
                "SELECT data FROM rows WHERE panel = ? AND key = ?", (_panel(connection, stream, panel), key)
            ).fetchone()
        )
        return None if row is None else decode_row(row[0])

    async def across(self, panel: str) -> tuple[Row, ...]:
        found = await self._readers.run(
            lambda connection: connection.execute(
                "SELECT data FROM rows JOIN panels ON panels.number = rows.panel WHERE panels.panel = ?"
                " ORDER BY place DESC, key DESC",
                (panel,),
            ).fetchall()
        )
        return tuple(decode_row(data) for (data,) in found)

    async def clear(self, stream: str) -> None:
        await self._writing().do(lambda connection: _clear(connection, stream))

    async def forget(self, stream: str, erasures: int) -> None:
        """As `clear`, after an erasure: nothing of the rows is left in the file or its log."""

        def run(connection: sqlite3.Connection) -> None:
            _clear(connection, stream)
            connection.execute("UPDATE views_of SET erasures = max(erasures, ?)", (erasures,))

        await self._writing().do(run, scrub=True)

    async def save_snapshot(self, stream: str, sequence: int, link: bytes, schema: int, state: bytes) -> None:
        row = (stream, sequence, link, schema, state)
        await self._writing().do(
            lambda connection: (
                connection.execute("INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?, ?)", row).rowcount
            )
        )

    async def snapshot(self, stream: str, schema: int) -> tuple[int, bytes, bytes] | None:
        return await self._readers.run(
            lambda connection: connection.execute(
                "SELECT sequence, link, state FROM snapshots WHERE stream = ? AND version = ?", (stream, schema)
            ).fetchone()
        )

    async def close(self) -> None:
        """Writes what was accepted and disconnects."""
        await self._readers.close()
        if self._writer is not None:
            await self._writer.close()

    def _writing(self) -> Writer:
        if self._writer is None:
            raise read_only()
        return self._writer


class _Nothing:
    """Views need nothing done around their transactions."""

    def begun(self, connection: sqlite3.Connection) -> None: ...

    def ending(self, connection: sqlite3.Connection) -> None: ...

    def undone(self) -> None: ...

    def idle(self, connection: sqlite3.Connection) -> bool:
        return False


def _panel(connection: sqlite3.Connection, stream: str, panel: str) -> int:
    row = connection.execute("SELECT number FROM panels WHERE stream = ? AND panel = ?", (stream, panel)).fetchone()
    return 0 if row is None else row[0]


def _write(
    connection: sqlite3.Connection, stream: str, ops: Sequence[tuple[str, str, int, bytes] | Op], views: Views
) -> None:
    numbers: dict[str, int] = {}
    for op in ops:
        name = op[0] if isinstance(op, tuple) else op.panel
        if name not in numbers:
            connection.execute(
                "INSERT INTO panels (stream, panel) VALUES (?, ?) ON CONFLICT DO NOTHING", (stream, name)
            )
            numbers[name] = _panel(connection, stream, name)
        if isinstance(op, tuple):
            connection.execute(
                "INSERT INTO rows (panel, key, place, data) VALUES (?, ?, ?, ?) ON CONFLICT (panel, key)"
                " DO UPDATE SET place = excluded.place, data = excluded.data",
                (numbers[name], *op[1:]),
            )
        elif isinstance(op, Remove):
            connection.execute("DELETE FROM rows WHERE panel = ? AND key = ?", (numbers[name], op.key))
    connection.execute(
        "INSERT OR REPLACE INTO views VALUES (?, ?, ?, ?)", (stream, views.watermark, views.schema, views.state)
    )


def _clear(connection: sqlite3.Connection, stream: str) -> None:
    connection.execute("DELETE FROM rows WHERE panel IN (SELECT number FROM panels WHERE stream = ?)", (stream,))
    for table in ("panels", "views", "snapshots"):
        connection.execute(f"DELETE FROM {table} WHERE stream = ?", (stream,))  # noqa: S608


def _open(path: Path, store: str, erasures: int) -> sqlite3.Connection:
    """The writer's connection to views of this store; what does not fit, or cannot be read, is replaced."""
    if path.exists() and not _fits(path, store, erasures):
        _unlink(path)
    connection = connect(path)
    new = is_empty(connection)
    prepare(connection, new=new, synchronous="NORMAL")
    if new:
        create(connection, VIEWS_SQL, VIEWS_SCHEMA, "INSERT INTO views_of VALUES (?, ?)", (store, erasures))
    return connection


def _fits(path: Path, store: str, erasures: int) -> bool:
    if not path.exists():
        return False
    connection: sqlite3.Connection | None = None
    try:
        connection = connect_reader(path)
        marks = tuple(connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version"))
        of = connection.execute("SELECT store, erasures FROM views_of").fetchone()
    except sqlite3.Error:
        return False
    finally:
        if connection is not None:
            connection.close()
    return marks == (APPLICATION, VIEWS_SCHEMA) and of == (store, erasures)


def _unlink(path: Path) -> None:
    for name in (path, path.with_name(path.name + "-wal"), path.with_name(path.name + "-shm")):
        name.unlink(missing_ok=True)


def _connect_if_fit(path: Path, store: str, erasures: int) -> sqlite3.Connection:
    """A connection that reads, and finds no rows where the views do not fit."""
    if _fits(path, store, erasures):
        return connect_reader(path)
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    create(connection, VIEWS_SQL, VIEWS_SCHEMA)
    return connection
