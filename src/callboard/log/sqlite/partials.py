"""Parts in the making: one row a part, and one row for each piece that was kept of it, so that nothing is written twice."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Sequence

import msgspec

from ...contracts.live import Frame, Partial, PartialKind
from ...contracts.scope import Scope
from ..batch import fenced
from ..pieces import check_offset, gather
from .failures import read_only
from .ledger import Ledger, find_end
from .readers import Readers
from .writer import Writer

#: A piece lies at its part's number times this, plus its offset: the pieces of a part are neighbours, in order.
_SPAN = 1 << 32
log = logging.getLogger(__name__)
_scope_decoder = msgspec.json.Decoder(Scope)


class SqlitePartials:
    """The PartialStore port."""

    def __init__(self, readers: Readers, writer: Writer | None, ledger: Ledger) -> None:
        self._readers = readers
        self._writer = writer
        self._ledger = ledger

    async def write(self, stream: str, epoch: int, pieces: Sequence[Frame]) -> None:
        if self._writer is None:
            raise read_only()
        await self._writer.submit(lambda connection: _write(connection, self._ledger, stream, epoch, pieces))

    async def read(self, stream: str) -> tuple[Partial, ...]:
        return await self._readers.run(lambda connection: _read(connection, stream))


def _write(connection: sqlite3.Connection, ledger: Ledger, stream: str, epoch: int, pieces: Sequence[Frame]) -> None:
    if epoch != ledger.epoch:
        raise fenced(stream, epoch, ledger.epoch)
    gathered = gather(pieces)
    end = ledger.get_end(connection, stream)
    known: dict[str, tuple[int, int]] = {}
    for key, part in gathered.items():
        row = connection.execute(
            "SELECT number, length FROM partials WHERE stream = ? AND key = ?", (end.number, key)
        ).fetchone()
        check_offset(key, part.offset, row[1] if row else 0)
        if row:
            known[key] = row
    stream_number = ledger.ensure_stream(connection, stream).number
    for key, part in gathered.items():
        length = part.offset + len(part.text)
        if key in known:
            number = known[key][0]
            connection.execute(
                "UPDATE partials SET length = ?, tool = CASE ? WHEN '' THEN tool ELSE ? END WHERE number = ?",
                (length, part.tool, part.tool, number),
            )
        else:
            scope = msgspec.json.encode(part.scope)
            made = connection.execute(
                "INSERT INTO partials (stream, key, kind, scope, tool, length) VALUES (?, ?, ?, ?, ?, ?)",
                (stream_number, key, part.kind, scope, part.tool, length),
            )
            number = made.lastrowid or 0
        if part.text:
            connection.execute("INSERT INTO pieces VALUES (?, ?)", (number * _SPAN + part.offset, part.text))


def _read(connection: sqlite3.Connection, stream: str) -> tuple[Partial, ...]:
    # One statement, so that a part cannot end between its row and its text.
    found = connection.execute(
        "SELECT kind, CAST(scope AS BLOB), tool, CAST((SELECT group_concat(text, '') FROM (SELECT text FROM pieces"
        " WHERE place >= number * :span AND place < (number + 1) * :span ORDER BY place))"
        " AS BLOB) FROM partials WHERE stream = :stream ORDER BY number",
        {"span": _SPAN, "stream": find_end(connection, stream).number},
    ).fetchall()
    return tuple(part for row in found if (part := _part(stream, *row)) is not None)


def _part(stream: str, kind: str, scope: bytes, tool: str, text: bytes | None) -> Partial | None:
    """The part of a row; None where it cannot be read. It was never whole, and its session must open without it."""
    try:
        part = Partial(
            kind=msgspec.convert(kind, PartialKind),
            scope=_scope_decoder.decode(scope),
            text=(text or b"").decode("utf-8", "replace"),
            tool=tool,
        )
    except msgspec.MsgspecError as error:
        log.warning("a part in the making of %s cannot be read and is dropped: %s", stream, error)
        return None
    return part


def end_partials(connection: sqlite3.Connection, stream: int, keys: Sequence[str] | None = None) -> None:
    """Drops the parts with these keys, or all of the stream's."""
    if keys is None:
        found = connection.execute("SELECT number FROM partials WHERE stream = ?", (stream,)).fetchall()
    else:
        each = [
            connection.execute("SELECT number FROM partials WHERE stream = ? AND key = ?", (stream, key)).fetchone()
            for key in keys
        ]
        found = [row for row in each if row is not None]
    for (number,) in found:
        connection.execute("DELETE FROM pieces WHERE place >= ? AND place < ?", (number * _SPAN, (number + 1) * _SPAN))
        connection.execute("DELETE FROM partials WHERE number = ?", (number,))
