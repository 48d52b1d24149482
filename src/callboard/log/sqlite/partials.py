"""Partial texts: a row for each part, and a row for each of its stored pieces."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Sequence

import msgspec

from ...contracts.live import Frame, Partial, PartialKind
from ...contracts.scope import Scope
from ..batch import build_fenced_refusal
from ..pieces import check_offset, gather
from .failures import build_read_only_refusal
from .ledger import Ledger, find_end
from .readers import Readers
from .writer import Writer

#: The `place` of a piece is its part's number times this, plus its offset. So the pieces of a part
#: are adjacent, in order.
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
            raise build_read_only_refusal()
        await self._writer.submit(lambda connection: _write(connection, self._ledger, stream, epoch, pieces))

    async def read(self, stream: str) -> tuple[Partial, ...]:
        return await self._readers.run(lambda connection: _read(connection, stream))


def _write(connection: sqlite3.Connection, ledger: Ledger, stream: str, epoch: int, pieces: Sequence[Frame]) -> None:
    if epoch != ledger.epoch:
        raise build_fenced_refusal(stream, epoch, ledger.epoch)
    gathered = gather(pieces)
    end = ledger.get_end(connection, stream)
    numbers: dict[str, int] = {}
    for key, part in gathered.items():
        row = connection.execute(
            "SELECT number, length FROM partials WHERE stream = ? AND key = ?", (end.number, key)
        ).fetchone()
        check_offset(key, part.offset, row[1] if row else 0)
        if row:
            numbers[key] = row[0]
    stream_number = ledger.ensure_stream(connection, stream).number
    for key, part in gathered.items():
        length = part.offset + len(part.text)
        if number := numbers.get(key, 0):
            connection.execute(
                "UPDATE partials SET length = ?, tool = CASE ? WHEN '' THEN tool ELSE ? END WHERE number = ?",
                (length, part.tool, part.tool, number),
            )
        else:
            scope = msgspec.json.encode(part.scope)
            inserted = connection.execute(
                "INSERT INTO partials (stream, key, kind, scope, tool, length) VALUES (?, ?, ?, ?, ?, ?)",
                (stream_number, key, part.kind, scope, part.tool, length),
            )
            number = inserted.lastrowid or 0
        if part.text:
            connection.execute("INSERT INTO pieces VALUES (?, ?)", (number * _SPAN + part.offset, part.text))


def _read(connection: sqlite3.Connection, stream: str) -> tuple[Partial, ...]:
    # One statement, because a part may end between two.
    rows = connection.execute(
        "SELECT kind, CAST(scope AS BLOB), tool, CAST((SELECT group_concat(text, '') FROM (SELECT text FROM pieces"
        " WHERE place >= number * :span AND place < (number + 1) * :span ORDER BY place))"
        " AS BLOB) FROM partials WHERE stream = :stream ORDER BY number",
        {"span": _SPAN, "stream": find_end(connection, stream).number},
    ).fetchall()
    return tuple(part for row in rows if (part := _decode(stream, *row)) is not None)


def _decode(stream: str, kind: str, scope: bytes, tool: str, text: bytes | None) -> Partial | None:
    """Return the part of a row; None if it is damaged, because its session must open without it."""
    try:
        return Partial(
            kind=msgspec.convert(kind, PartialKind),
            scope=_scope_decoder.decode(scope),
            text=(text or b"").decode("utf-8", "replace"),
            tool=tool,
        )
    except msgspec.MsgspecError as error:
        log.warning("a damaged partial text of %s was dropped: %s", stream, error)
        return None


def end_partials(connection: sqlite3.Connection, stream: int, keys: Sequence[str] | None = None) -> None:
    """Drop the parts with these keys, or all parts of the stream."""
    query, parameters = "SELECT number FROM partials WHERE stream = ?", [(stream,)]
    if keys is not None:
        query, parameters = f"{query} AND key = ?", [(stream, key) for key in keys]
    for (number,) in [row for values in parameters for row in connection.execute(query, values).fetchall()]:
        connection.execute("DELETE FROM pieces WHERE place >= ? AND place < ?", (number * _SPAN, (number + 1) * _SPAN))
        connection.execute("DELETE FROM partials WHERE number = ?", (number,))
