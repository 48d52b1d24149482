"""View rows and conversations in memory."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import msgspec

from ..contracts.ports.conversation_store import StoredConversation
from ..contracts.ports.store import Views
from ..contracts.rows.base import AppendText, Op, Remove, Row, Upsert
from .panels import check_storable, select_newest


class _Snapshot(msgspec.Struct, frozen=True):
    sequence: int
    link: bytes
    fingerprint: str
    state: bytes


class MemoryRows:
    """Rows by stream, panel and key."""

    def __init__(self) -> None:
        self._rows: dict[str, dict[str, dict[str, Row]]] = {}
        self._views: dict[str, Views] = {}
        self._snapshots: dict[str, _Snapshot] = {}
        self.conversations = MemoryConversations()

    async def write(self, stream: str, ops: Sequence[Op], views: Views) -> None:
        check_storable(ops)
        panels = self._rows.setdefault(stream, {})
        for op in ops:
            match op:
                case Upsert():
                    panels.setdefault(op.panel, {})[op.row.key] = op.row
                case Remove():
                    panels.setdefault(op.panel, {}).pop(op.key, None)
                case AppendText():
                    pass
        self._views[stream] = views

    async def read_views(self, stream: str) -> Views | None:
        return self._views.get(stream)

    async def read_rows(
        self, stream: str, panel: str, *, before: int | None = None, limit: int = 1000, max_bytes: int = 1_000_000
    ) -> tuple[Row, ...]:
        rows = self._rows.get(stream, {}).get(panel, {}).values()
        window = sorted(
            (row for row in rows if before is None or row.order < before), key=_build_sort_key, reverse=True
        )
        return select_newest(((row.order, len(msgspec.json.encode(row)), row) for row in window), limit, max_bytes)

    async def read_row(self, stream: str, panel: str, key: str) -> Row | None:
        return self._rows.get(stream, {}).get(panel, {}).get(key)

    def is_discarded(self, stream: str) -> bool:
        return False

    async def read_all_rows(
        self, panel: str, fingerprint: str, heads: Mapping[str, int] | None = None
    ) -> tuple[Row, ...]:
        streams = [
            stream
            for stream, views in self._views.items()
            if views.fingerprint == fingerprint and (heads is None or views.watermark >= heads.get(stream, 0))
        ]
        rows = [row for stream in streams for row in self._rows.get(stream, {}).get(panel, {}).values()]
        return tuple(sorted(rows, key=_build_sort_key, reverse=True))

    async def clear(self, stream: str) -> None:
        self._rows.pop(stream, None)
        self._views.pop(stream, None)
        self._snapshots.pop(stream, None)
        self.conversations.forget(stream)

    async def save_snapshot(self, stream: str, sequence: int, link: bytes, fingerprint: str, state: bytes) -> None:
        self._snapshots[stream] = _Snapshot(sequence, link, fingerprint, state)

    async def read_snapshot(self, stream: str, fingerprint: str) -> tuple[int, bytes, bytes] | None:
        snapshot = self._snapshots.get(stream)
        if snapshot is None or snapshot.fingerprint != fingerprint:
            return None
        return snapshot.sequence, snapshot.link, snapshot.state


class MemoryConversations:
    """Conversations by stream and thread."""

    def __init__(self) -> None:
        self._stored: dict[str, dict[str, StoredConversation]] = {}

    async def save(self, stream: str, conversation: StoredConversation, threads: Collection[str]) -> None:
        stored = {**self._stored.get(stream, {}), conversation.thread: conversation}
        self._stored[stream] = {thread: stored[thread] for thread in stored if thread in threads}

    async def read(self, stream: str, thread: str, fingerprint: str) -> StoredConversation | None:
        conversation = self._stored.get(stream, {}).get(thread)
        return conversation if conversation is not None and conversation.fingerprint == fingerprint else None

    def forget(self, stream: str) -> None:
        """Delete the conversations of a stream."""
        self._stored.pop(stream, None)


def _build_sort_key(row: Row) -> tuple[int, str]:
    return row.order, row.key
