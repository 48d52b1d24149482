"""The suite of stores for the store in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from callboard.log.memory import MemoryStore

from .suite import BlobSuite, ConversationSuite, LogSuite, PartialSuite, RowSuite


@pytest.fixture
async def store() -> AsyncIterator[MemoryStore]:
    store = MemoryStore()
    yield store
    await store.close()


class TestMemoryLog(LogSuite): ...


class TestMemoryBlobs(BlobSuite): ...


class TestMemoryPartials(PartialSuite): ...


class TestMemoryRows(RowSuite): ...


class TestMemoryConversations(ConversationSuite): ...
