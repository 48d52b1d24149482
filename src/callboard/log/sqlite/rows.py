"""View rows, watermarks and snapshots, in a file of their own that is made from the log and may be lost."""

from __future__ import annotations

import contextlib
import logging
import sqlite3
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import msgspec

from ...contracts.errors import Refusal
from ...contracts.ports.store import Views
from ...contracts.rows import decode_row
from ...contracts.rows.base import Op, Remove, Row, Upsert
from ..panels import check_storable, select_newest
from .derived import protect, unprotect
from .failures import VIEWS, is_out_of_descriptors, read_only
from .readers import Readers
from .schema import (
    APPLICATION,
    VIEWS_LAYOUT,
    VIEWS_SQL,
    configure,
    connect,
    connect_reader,
    create,
    has_programs,
    is_empty,
)
from .unwritten import UnwrittenRows
from .writer import Writer

log = logging.getLogger(__name__)


class SqliteRows:
    """The RowStore port. Rows are JSON behind a checksum; `append` is refused with ValueError: it belongs to live frames,
    never to facts."""

    def __init__(self, folder: Path, store: str, erasures: int, *, writing: bool) -> None:
        """`erasures` counts what the log has erased: views that have not seen the last of it are thrown away."""
        path = folder / VIEWS
        self._discarded: set[str] = set()
        self._unwritten = UnwrittenRows()
        self._writer: Writer | None = None
        if writing:
            discard = partial(_unlink, path)
            self._writer = Writer(_open(path, store, erasures), str(path), _NoHooks(), discard)
            self._readers = Readers(partial(connect_reader, path), str(path), 2, discard)
        else:
            self._readers = Readers(partial(_connect_if_fit, path, store, erasures), str(path), 2)

    async def write(self, stream: str, ops: Sequence[Op], views: Views) -> None:
        check_storable(ops)
        if stream in self._discarded:
            return
        upserts = [
            (op.panel, op.row.key, op.row.order, _protected(stream, op)) if isinstance(op, Upsert) else op for op in ops
        ]
        try:
            await self._writing().submit(lambda connection: _write(connection, stream, upserts, views))
        except Refusal as refusal:
            if refusal.code == "store_full":
                # Who writes tries again with the same; until then reads show it.
                self._unwritten.add(stream, ops)
            raise
        self._unwritten.clear(stream)

    async def views(self, stream: str) -> Views | None:
        if stream in self._discarded and self._writer is not None:
            # Another read may still wait for this: what is returned must not be discarded after it.
            await self.clear(stream)
        row = await self._readers.run(
            lambda connection: connection.execute(
                "SELECT watermark, fingerprint, CAST(state AS BLOB) FROM views WHERE stream = ?", (stream,)
            ).fetchone()
        )
        self._discarded.discard(stream)
        if row is None:
            return None
        state = unprotect(row[2], stream, row[0], row[1])
        if state is None:
            log.warning("the view state of %s is damaged: its rows are folded anew", stream)
            return None
        return Views(watermark=row[0], fingerprint=row[1], state=state)

    def discarded(self, stream: str) -> bool:
        return stream in self._discarded

    async def rows(
        self, stream: str, panel: str, *, before: int | None = None, limit: int = 1000, largest: int = 1_000_000
    ) -> tuple[Row, ...]:
        def read(connection: sqlite3.Connection) -> tuple[tuple[str, int, object], ...]:
            found = connection.execute(
                "SELECT place, length(data), key, CAST(data AS BLOB) FROM rows WHERE panel = ? AND place < ?"
                " ORDER BY place DESC, key DESC",
                (_panel(connection, stream, panel), (1 << 62) if before is None else before),
            )
            with contextlib.closing(found):
                return select_newest(
                    ((place, size, (key, place, data)) for place, size, key, data in found), limit, largest
                )

        rows = tuple([await self._row(stream, panel, *found) for found in await self._readers.run(read)])
        return self._unwritten.merge(stream, panel, rows, before, limit)

    async def row(self, stream: str, panel: str, key: str) -> Row | None:
        row = await self._readers.run(
            lambda connection: connection.execute(
                "SELECT place, CAST(data AS BLOB) FROM rows WHERE panel = ? AND key = ?",
                (_panel(connection, stream, panel), key),
            ).fetchone()
        )
        written = None if row is None else await self._row(stream, panel, key, *row)
        return self._unwritten.find(stream, panel, key, written)

    async def across(self, panel: str, fingerprint: str) -> tuple[Row, ...]:
        found = await self._readers.run(
            lambda connection: connection.execute(
                "SELECT panels.stream, key, place, CAST(data AS BLOB) FROM rows JOIN panels ON panels.number = rows.panel"
                " JOIN views ON views.stream = panels.stream WHERE panels.panel = ? AND fingerprint = ?"
                " ORDER BY place DESC, key DESC",
                (panel, fingerprint),
            ).fetchall()
        )
        rows: list[Row] = []
        for stream, *row in found:
            with contextlib.suppress(Refusal):
                rows.append(await self._row(stream, panel, *row))
        return tuple(rows)

    async def clear(self, stream: str) -> None:
        self._unwritten.clear(stream)
        await self._writing().submit(lambda connection: _clear(connection, stream))

    async def forget(self, stream: str, erasures: int) -> None:
        """As `clear`, after an erasure: nothing of the rows is left in the file or its log."""

        self._unwritten.clear(stream)

        def run(connection: sqlite3.Connection) -> None:
            _clear(connection, stream)
            connection.execute("UPDATE views_of SET erasures = max(erasures, ?)", (erasures,))

        await self._writing().submit(run, scrub=True)

    async def save_snapshot(self, stream: str, sequence: int, link: bytes, fingerprint: str, state: bytes) -> None:
        row = (stream, sequence, link, fingerprint, protect(state, stream, sequence, link, fingerprint))
        await self._writing().submit(
            lambda connection: (
                connection.execute("INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?, ?)", row).rowcount
            )
        )

    async def snapshot(self, stream: str, fingerprint: str) -> tuple[int, bytes, bytes] | None:
        row = await self._readers.run(
            lambda connection: connection.execute(
                "SELECT sequence, CAST(link AS BLOB), CAST(state AS BLOB) FROM snapshots"
                " WHERE stream = ? AND fingerprint = ?",
                (stream, fingerprint),
            ).fetchone()
        )
        if row is None:
            return None
        state = unprotect(row[2], stream, row[0], row[1], fingerprint)
        if state is None:
            log.warning("the snapshot of %s is damaged: its state is folded anew", stream)
            return None
        return row[0], row[1], state

    async def close(self) -> None:
        """Writes what was accepted and disconnects."""
        await self._readers.close()
        if self._writer is not None:
            await self._writer.close()

    async def _row(self, stream: str, panel: str, key: str, place: int, stored: object) -> Row:
        data = unprotect(stored, stream, panel, key, place)
        if data is not None:
            try:
                return decode_row(data)
            except msgspec.MsgspecError as error:
                reason = str(error)
        else:
            reason = "its bytes changed since they were written"
        if stream not in self._discarded:
            log.warning("the row %s of %s in %s is damaged: %s", key, panel, stream, reason)
            self._discarded.add(stream)
            if self._writer is not None:
                await self.clear(stream)
        raise Refusal(
            "rows_damaged",
            f"The stored view of {stream} is damaged and was discarded.",
            hint="Repeat the request: the view is rebuilt from the log.",
        )

    def _writing(self) -> Writer:
        if self._writer is None:
            raise read_only()
        return self._writer


def _protected(stream: str, op: Upsert) -> bytes:
    return protect(msgspec.json.encode(op.row), stream, op.panel, op.row.key, op.row.order)


class _NoHooks:
    """Views need nothing done around their transactions."""

    def begin(self, connection: sqlite3.Connection) -> None: ...

    def ending(self, connection: sqlite3.Connection) -> None: ...

    def reset(self) -> None: ...

    def do_idle_work(self, connection: sqlite3.Connection) -> bool:
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
        "INSERT OR REPLACE INTO views VALUES (?, ?, ?, ?)",
        (
            stream,
            views.watermark,
            views.fingerprint,
            protect(views.state, stream, views.watermark, views.fingerprint),
        ),
    )


def _clear(connection: sqlite3.Connection, stream: str) -> None:
    connection.execute("DELETE FROM rows WHERE panel IN (SELECT number FROM panels WHERE stream = ?)", (stream,))
    for table in ("panels", "views", "snapshots"):
        connection.execute(f"DELETE FROM {table} WHERE stream = ?", (stream,))  # noqa: S608


def _open(path: Path, store: str, erasures: int) -> sqlite3.Connection:
    """The writer's connection to views of this store; what does not fit, or cannot be read, is replaced."""
    if path.exists() and (misfit := _misfit(path, store, erasures)) is not None:
        if misfit:
            log.warning("%s cannot be read and is rebuilt from the log: %s", path, misfit)
        _unlink(path)
    connection = connect(path)
    new = is_empty(connection)
    configure(connection, new=new, synchronous="NORMAL")
    if new:
        create(connection, VIEWS_SQL, VIEWS_LAYOUT, "INSERT INTO views_of VALUES (?, ?)", (store, erasures))
    return connection


def _misfit(path: Path, store: str, erasures: int) -> str | None:
    """Return None for views that fit, why they cannot be read, or "" for those of another store or layout."""
    connection: sqlite3.Connection | None = None
    try:
        connection = connect_reader(path)
        marks = tuple(connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version"))
        of = connection.execute("SELECT store, erasures FROM views_of").fetchone()
        if has_programs(connection):
            return "it contains triggers or views of another tool"
    except sqlite3.Error as error:
        if is_out_of_descriptors():
            # Nothing is wrong with the file.
            raise
        return str(error)
    finally:
        if connection is not None:
            connection.close()
    return None if marks == (APPLICATION, VIEWS_LAYOUT) and of == (store, erasures) else ""


def _unlink(path: Path) -> None:
    for name in (path, path.with_name(path.name + "-wal"), path.with_name(path.name + "-shm")):
        name.unlink(missing_ok=True)


def _connect_if_fit(path: Path, store: str, erasures: int) -> sqlite3.Connection:
    """A connection that reads, and finds no rows where the views do not fit."""
    if path.exists() and _misfit(path, store, erasures) is None:
        return connect_reader(path)
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    create(connection, VIEWS_SQL, VIEWS_LAYOUT)
    return connection
