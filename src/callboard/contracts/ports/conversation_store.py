"""Port of the store of conversations, a part of `Store`."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

import msgspec


class StoredConversation(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The conversation of a thread after the fact `sequence`, which has the link `link` in the log.

    `fingerprint` identifies the code that made it; other code must not use it. The caller encodes
    and decodes each of the `parts` alone, with pauses for the event loop.
    """

    thread: str
    sequence: int
    link: bytes
    fingerprint: str
    parts: tuple[bytes, ...]


class ConversationStore(Protocol):
    """Conversations of threads, derived from the log and the blobs and never believed over the log.

    They contain text of blobs. Every method that removes content of a stream also removes its
    conversations: `FactLog.erase`, `FactLog.trim`, `FactLog.delete` and `RowStore.clear`.
    """

    async def save(self, stream: str, conversation: StoredConversation, threads: Collection[str]) -> None:
        """Store a conversation of a stream, and delete those of ended threads, in one transaction.

        Args:
            conversation: The new conversation. It replaces the stored one of its thread.
            threads: The open threads. Conversations of other threads are deleted.
        Raises:
            Refusal: `read_only`, or `store_full`. Nothing is then stored or deleted.
        """
        ...

    async def read(self, stream: str, thread: str, fingerprint: str) -> StoredConversation | None:
        """Return the stored conversation of a thread.

        Args:
            fingerprint: The fingerprint of the code that reads.
        Returns:
            The conversation; None if it is missing, damaged or has another fingerprint.
        Raises:
            Refusal: `store_unusable`.
        """
        ...
