"""The transaction of an append."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from ...contracts.content import Blob
from ...contracts.ports.store import Append
from ...contracts.record import Record
from ..batch import Draft, build_key_refusal, build_required_refusal, check_head, seal
from .ledger import Ledger
from .partials import end_partials


def append(connection: sqlite3.Connection, ledger: Ledger, batch: Append, draft: Draft) -> tuple[Record, ...]:
    """Store the batch. It is refused before the first write; the ledger collects most rows for the whole transaction."""
    end = ledger.get_end(connection, batch.stream)
    check_head(batch, end.head, ledger.epoch)
    if batch.requires and not ledger.get_end(connection, batch.requires).head.sequence:
        raise build_required_refusal(batch.requires)
    answer = batch.answer
    if answer is not None and connection.execute("SELECT 1 FROM answers WHERE key = ?", (answer.key,)).fetchone():
        raise build_key_refusal(answer.key)
    if not end.number:
        end = ledger.ensure_stream(connection, batch.stream)
    number, first = end.number, end.head.sequence + 1
    sealed = seal(batch, draft, end.head, number)
    ledger.append(batch.stream, number, sealed.lines, sealed.head)
    if batch.blobs or draft.references:
        _store_blobs(ledger, number, first, batch.blobs, draft.references, sealed.head.sequence)
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


def _store_blobs(
    ledger: Ledger, number: int, first: int, blobs: Sequence[Blob], references: Sequence[tuple[int, str]], end: int
) -> None:
    """Store the blobs of a batch and their uses. The last fact uses a blob that no fact of the batch names."""
    unnamed = {blob.ref.hash for blob in blobs} - {hash for _, hash in references}
    uses = [(number, first + index, bytes.fromhex(hash)) for index, hash in references]
    uses += [(number, end, bytes.fromhex(hash)) for hash in unnamed]
    ledger.store_blobs([(bytes.fromhex(blob.ref.hash), blob.data) for blob in blobs], uses)
