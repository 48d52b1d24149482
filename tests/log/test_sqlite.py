"""The suite of stores for the store in SQLite."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from callboard.log.sqlite import SqliteStore, open_store

from .suite import BlobSuite, ConversationSuite, LogSuite, PartialSuite, RowSuite


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    store = open_store(tmp_path / "store")
    yield store
    await store.close()


class TestSqliteLog(LogSuite): ...


class TestSqliteBlobs(BlobSuite): ...


class TestSqlitePartials(PartialSuite): ...


class TestSqliteRows(RowSuite): ...


class TestSqliteConversations(ConversationSuite): ...
