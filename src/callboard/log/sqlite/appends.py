"""The transaction of an append."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from ...contracts.content import Blob
from ...contracts.ports.store import Append
from ...contracts.record import Record
from ..batch import Draft, check_place, key_taken, seal
from .ledger import Ledger
from .partials import end_partials


def append(connection: sqlite3.Connection, ledger: Ledger, batch: Append, made: Draft) -> tuple[Record, ...]:
    """Stores the batch; most of it is written with that of the whole transaction. Refuses before it writes."""
    end = ledger.get_end(connection, batch.stream)
    check_place(batch, end.head, ledger.epoch)
    answer = batch.answer
    if answer is not None and connection.execute("SELECT 1 FROM answers WHERE key = ?", (answer.key,)).fetchone():
        raise key_taken(answer.key)
    if not end.number:
        end = ledger.ensure_stream(connection, batch.stream)
    number, first = end.number, end.head.sequence + 1
    sealed = seal(batch, made, end.head, number)
    ledger.append(batch.stream, number, sealed.lines, sealed.head)
    if batch.blobs or made.references:
        _keep_blobs(ledger, number, first, batch.blobs, made.references, sealed.head.sequence)
    if answer is not None:
        connection.execute(
            "INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?)",
            (answer.key, answer.body_hash, answer.answer, number, first, sealed.head.sequence),
        )
    if batch.closed:
        ledger.close_entities(number, batch.closed)
    if batch.ends:
        end_partials(connection, number, batch.ends)
    return sealed.records


def _keep_blobs(
    ledger: Ledger, number: int, first: int, blobs: Sequence[Blob], names: Sequence[tuple[int, str]], end: int
) -> None:
    """Keeps the blobs of a batch, and which facts use them. One that no fact of the batch names belongs to the stream's end."""
    unnamed = {blob.ref.hash for blob in blobs} - {name for _, name in names}
    uses = [(number, first + at, bytes.fromhex(name)) for at, name in names]
    uses += [(number, end, bytes.fromhex(name)) for name in unnamed]
    ledger.store_blobs([(bytes.fromhex(blob.ref.hash), blob.data) for blob in blobs], uses)
