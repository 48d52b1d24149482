"""The conversations of threads in `views.db`, derived from the log."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Collection, Iterator

import msgspec

from ....contracts.ports.conversation_store import StoredConversation
from ..failures import build_read_only_refusal
from ..readers import Readers
from ..writer import Writer
from .views_file import protect_pieces, unprotect

log = logging.getLogger(__name__)


class SqliteConversations:
    """Implements the port `ConversationStore`. All parts of a conversation are in one value after a checksum."""

    def __init__(self, readers: Readers, writer: Writer | None) -> None:
        self._readers = readers
        self._writer = writer

    async def save(self, stream: str, conversation: StoredConversation, threads: Collection[str]) -> None:
        await self._require_writer().submit(lambda connection: _save(connection, stream, conversation, threads))

    async def read(self, stream: str, thread: str, fingerprint: str) -> StoredConversation | None:
        return await self._readers.run(lambda connection: _read(connection, stream, thread, fingerprint))

    async def forget(self, stream: str) -> None:
        """Delete the conversations of a stream. No content is left in the file or its write-ahead log."""
        query = "DELETE FROM conversations WHERE stream = ?"
        await self._require_writer().submit(
            lambda connection: connection.execute(query, (stream,)).rowcount, scrub=True
        )

    def _require_writer(self) -> Writer:
        if self._writer is None:
            raise build_read_only_refusal()
        return self._writer


def _save(
    connection: sqlite3.Connection, stream: str, conversation: StoredConversation, threads: Collection[str]
) -> None:
    connection.execute(
        "DELETE FROM conversations WHERE stream = ? AND thread NOT IN (SELECT value FROM json_each(?))",
        (stream, msgspec.json.encode(list(threads)).decode()),
    )
    row_key = (stream, conversation.thread, conversation.sequence, conversation.link, conversation.fingerprint)
    data = protect_pieces(_frame(conversation.parts), *row_key)
    connection.execute("INSERT OR REPLACE INTO conversations VALUES (?, ?, ?, ?, ?, ?)", (*row_key, data))


def _frame(parts: tuple[bytes, ...]) -> Iterator[bytes]:
    """Yield the parts as a list in MessagePack. The encoder would copy megabytes as it grows."""
    yield b"\xdd" + len(parts).to_bytes(4, "big")
    for part in parts:
        yield b"\xc6" + len(part).to_bytes(4, "big")
        yield part


def _read(connection: sqlite3.Connection, stream: str, thread: str, fingerprint: str) -> StoredConversation | None:
    row = connection.execute(
        "SELECT sequence, CAST(link AS BLOB), CAST(data AS BLOB) FROM conversations"
        " WHERE stream = ? AND thread = ? AND fingerprint = ?",
        (stream, thread, fingerprint),
    ).fetchone()
    if row is None:
        return None
    sequence, link, stored = row
    data = unprotect(stored, stream, thread, sequence, link, fingerprint)
    if data is None:
        log.warning("the conversation of %s in %s is damaged: it is read from the log", thread, stream)
        return None
    parts = msgspec.msgpack.decode(data, type=tuple[bytes, ...])
    return StoredConversation(thread=thread, sequence=sequence, link=link, fingerprint=fingerprint, parts=parts)
