"""View rows, watermarks and snapshots in `views.db`, derived from the log, with the stored conversations."""

from __future__ import annotations

import contextlib
import logging
import sqlite3
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import msgspec

from ....contracts.errors import Refusal
from ....contracts.ports.store import Views
from ....contracts.rows import decode_row
from ....contracts.rows.base import Op, Remove, Row, Upsert
from ...panels import check_storable, select_newest
from ..failures import VIEWS, build_read_only_refusal
from ..readers import Readers
from ..schema import connect_reader
from ..writer import Hooks, Writer
from .conversations import SqliteConversations
from .unwritten_rows import UnwrittenRows
from .views_file import connect_views, open_views, protect, remove_views, unprotect

log = logging.getLogger(__name__)


class SqliteRows:
    """Implements the port `RowStore`. Rows are JSON after a checksum.

    Args:
        erasures: The number of erasures in the log. Views from before the last one are discarded.
    """

    def __init__(self, folder: Path, store: str, erasures: int, *, writing: bool) -> None:
        path = folder / VIEWS
        self._discarded: set[str] = set()
        self._unwritten = UnwrittenRows()
        self._writer: Writer | None = None
        if writing:
            discard = partial(remove_views, path)
            self._writer = Writer(open_views(path, store, erasures), str(path), Hooks(), discard)
            self._readers = Readers(partial(connect_reader, path), str(path), 2, discard)
        else:
            self._readers = Readers(partial(connect_views, path, store, erasures), str(path), 2)
        #: The conversations in the same file, with the same writer.
        self.conversations = SqliteConversations(self._readers, self._writer)

    async def write(self, stream: str, ops: Sequence[Op], views: Views) -> None:
        check_storable(ops)
        if stream in self._discarded:
            return
        encoded = [(op, _encode(stream, op)) for op in ops]
        try:
            await self._require_writer().submit(lambda connection: _write(connection, stream, encoded, views))
        except Refusal as refusal:
            if refusal.code == "store_full":
                # The caller writes them again. Until then, reads include them.
                self._unwritten.add(stream, ops)
            raise
        self._unwritten.clear(stream)

    async def read_views(self, stream: str) -> Views | None:
        if stream in self._discarded and self._writer is not None:
            # Finish discarding first, so that it cannot remove what this returns.
            await self.clear(stream)
        query = "SELECT watermark, fingerprint, CAST(state AS BLOB) FROM views WHERE stream = ?"
        row = await self._readers.run(lambda connection: connection.execute(query, (stream,)).fetchone())
        self._discarded.discard(stream)
        if row is None:
            return None
        state = unprotect(row[2], stream, row[0], row[1])
        if state is None:
            log.warning("the view state of %s is damaged: its rows are rebuilt from the log", stream)
            return None
        return Views(watermark=row[0], fingerprint=row[1], state=state)

    def is_discarded(self, stream: str) -> bool:
        return stream in self._discarded

    async def read_rows(
        self, stream: str, panel: str, *, before: int | None = None, limit: int = 1000, max_bytes: int = 1_000_000
    ) -> tuple[Row, ...]:
        def read(connection: sqlite3.Connection) -> tuple[tuple[str, int, object], ...]:
            rows = connection.execute(
                "SELECT place, length(data), key, CAST(data AS BLOB) FROM rows WHERE panel = ? AND place < ?"
                " ORDER BY place DESC, key DESC",
                (_find_panel(connection, stream, panel), (1 << 62) if before is None else before),
            )
            with contextlib.closing(rows):
                entries = ((place, size, (key, place, data)) for place, size, key, data in rows)
                return select_newest(entries, limit, max_bytes)

        rows = tuple([await self._decode(stream, panel, *columns) for columns in await self._readers.run(read)])
        return self._unwritten.merge(stream, panel, rows, before, limit)

    async def read_row(self, stream: str, panel: str, key: str) -> Row | None:
        columns = await self._readers.run(
            lambda connection: connection.execute(
                "SELECT place, CAST(data AS BLOB) FROM rows WHERE panel = ? AND key = ?",
                (_find_panel(connection, stream, panel), key),
            ).fetchone()
        )
        row = None if columns is None else await self._decode(stream, panel, key, *columns)
        return self._unwritten.find(stream, panel, key, row)

    async def read_all_rows(
        self, panel: str, fingerprint: str, heads: Mapping[str, int] | None = None
    ) -> tuple[Row, ...]:
        query = (
            "SELECT watermark, panels.stream, key, place, CAST(data AS BLOB)"
            " FROM rows JOIN panels ON panels.number = rows.panel"
            " JOIN views ON views.stream = panels.stream WHERE panels.panel = ? AND fingerprint = ?"
            " ORDER BY place DESC, key DESC"
        )
        stored = await self._readers.run(lambda connection: connection.execute(query, (panel, fingerprint)).fetchall())
        rows: list[Row] = []
        for watermark, stream, *columns in stored:
            if heads is not None and watermark < heads.get(stream, 0):
                continue
            with contextlib.suppress(Refusal):
                rows.append(await self._decode(stream, panel, *columns))
        return tuple(rows)

    async def clear(self, stream: str) -> None:
        self._unwritten.clear(stream)
        await self._require_writer().submit(lambda connection: _clear(connection, stream))

    async def forget(self, stream: str, erasures: int) -> None:
        """Clear a stream after an erasure. No content is left in the file or its write-ahead log."""

        def run(connection: sqlite3.Connection) -> None:
            _clear(connection, stream)
            connection.execute("UPDATE views_of SET erasures = max(erasures, ?)", (erasures,))

        self._unwritten.clear(stream)
        await self._require_writer().submit(run, scrub=True)

    async def save_snapshot(self, stream: str, sequence: int, link: bytes, fingerprint: str, state: bytes) -> None:
        row = (stream, sequence, link, fingerprint, protect(state, stream, sequence, link, fingerprint))
        query = "INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?, ?)"
        await self._require_writer().submit(lambda connection: connection.execute(query, row).rowcount)

    async def read_snapshot(self, stream: str, fingerprint: str) -> tuple[int, bytes, bytes] | None:
        query = (
            "SELECT sequence, CAST(link AS BLOB), CAST(state AS BLOB) FROM snapshots"
            " WHERE stream = ? AND fingerprint = ?"
        )
        row = await self._readers.run(lambda connection: connection.execute(query, (stream, fingerprint)).fetchone())
        if row is None:
            return None
        state = unprotect(row[2], stream, row[0], row[1], fingerprint)
        if state is None:
            log.warning("the snapshot of %s is damaged: its state is rebuilt from the log", stream)
            return None
        return row[0], row[1], state

    async def close(self) -> None:
        """Finish queued writes and disconnect."""
        await self._readers.close()
        if self._writer is not None:
            await self._writer.close()

    async def _decode(self, stream: str, panel: str, key: str, place: int, stored: object) -> Row:
        """Decode a row. Raises Refusal `rows_damaged` after discarding all rows of the stream."""
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

    def _require_writer(self) -> Writer:
        if self._writer is None:
            raise build_read_only_refusal()
        return self._writer


def _encode(stream: str, op: Op) -> bytes:
    if not isinstance(op, Upsert):
        return b""
    return protect(msgspec.json.encode(op.row), stream, op.panel, op.row.key, op.row.order)


def _find_panel(connection: sqlite3.Connection, stream: str, panel: str) -> int:
    row = connection.execute("SELECT number FROM panels WHERE stream = ? AND panel = ?", (stream, panel)).fetchone()
    return 0 if row is None else row[0]


def _write(connection: sqlite3.Connection, stream: str, ops: Sequence[tuple[Op, bytes]], views: Views) -> None:
    numbers: dict[str, int] = {}
    for op, data in ops:
        if op.panel not in numbers:
            connection.execute(
                "INSERT INTO panels (stream, panel) VALUES (?, ?) ON CONFLICT DO NOTHING", (stream, op.panel)
            )
            numbers[op.panel] = _find_panel(connection, stream, op.panel)
        if isinstance(op, Upsert):
            connection.execute(
                "INSERT INTO rows (panel, key, place, data) VALUES (?, ?, ?, ?) ON CONFLICT (panel, key)"
                " DO UPDATE SET place = excluded.place, data = excluded.data",
                (numbers[op.panel], op.row.key, op.row.order, data),
            )
        elif isinstance(op, Remove):
            connection.execute("DELETE FROM rows WHERE panel = ? AND key = ?", (numbers[op.panel], op.key))
    mark, version = views.watermark, views.fingerprint
    state = protect(views.state, stream, mark, version)
    connection.execute("INSERT OR REPLACE INTO views VALUES (?, ?, ?, ?)", (stream, mark, version, state))


def _clear(connection: sqlite3.Connection, stream: str) -> None:
    connection.execute("DELETE FROM rows WHERE panel IN (SELECT number FROM panels WHERE stream = ?)", (stream,))
    for table in ("panels", "views", "snapshots", "conversations"):
        connection.execute(f"DELETE FROM {table} WHERE stream = ?", (stream,))  # noqa: S608
