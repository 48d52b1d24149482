"""The writer thread: refused work of a shared transaction is rolled back without other work."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from pathlib import Path

import pytest

from callboard.contracts.errors import Refusal
from callboard.log.sqlite.writer import Hooks, Writer


@pytest.fixture
async def writer(tmp_path: Path) -> AsyncIterator[Writer]:
    connection = sqlite3.connect(tmp_path / "it.db", isolation_level=None, check_same_thread=False)
    connection.executescript("PRAGMA journal_mode = wal; CREATE TABLE words (word TEXT UNIQUE)")
    writer = Writer(connection, "it.db", Hooks())
    yield writer
    await writer.close()


def words(folder: Path) -> list[str]:
    with closing(sqlite3.connect(folder / "it.db")) as connection:
        return [word for (word,) in connection.execute("SELECT word FROM words ORDER BY rowid")]


def insert(connection: sqlite3.Connection, word: str) -> str:
    connection.execute("INSERT INTO words VALUES (?)", (word,))
    return word


def insert_and_refuse(connection: sqlite3.Connection) -> str:
    insert(connection, "half")
    raise Refusal("conflict", "It does not fit.")


def refuse(connection: sqlite3.Connection) -> str:
    raise Refusal("conflict", "It does not fit.")


@pytest.mark.parametrize("broken", [insert_and_refuse, refuse])
async def test_refused_work_is_rolled_back_without_the_work_after_it(
    tmp_path: Path, writer: Writer, broken: Callable[[sqlite3.Connection], str]
) -> None:
    """Design rule 1: the shared transaction runs again without it."""
    refused = writer.submit(broken, followed=True)
    after = writer.submit(lambda connection: insert(connection, "after"))

    with pytest.raises(Refusal, match="does not fit"):
        await refused
    assert await after == "after"
    assert words(tmp_path) == ["after"]


@pytest.mark.parametrize("broken", [insert_and_refuse, refuse])
async def test_writes_of_refused_work_are_rolled_back_without_other_work(
    tmp_path: Path, writer: Writer, broken: Callable[[sqlite3.Connection], str]
) -> None:
    """Design rule 1: refused work writes nothing, also in a shared transaction."""
    before = writer.submit(lambda connection: insert(connection, "before"), followed=True)
    refused = writer.submit(broken, followed=True)
    after = writer.submit(lambda connection: insert(connection, "after"))

    with pytest.raises(Refusal, match="does not fit"):
        await refused
    assert (await before, await after) == ("before", "after")
    assert words(tmp_path) == ["before", "after"]


async def test_a_refusal_before_any_write_does_not_affect_other_work(tmp_path: Path, writer: Writer) -> None:
    """The transaction stays shared: each work runs once."""
    ran = list[str]()

    def counted(connection: sqlite3.Connection) -> str:
        ran.append("first")
        return insert(connection, "first")

    first = writer.submit(counted, followed=True)
    refused = writer.submit(refuse, followed=True)
    last = writer.submit(lambda connection: insert(connection, "last"))

    assert (await first, await last) == ("first", "last")
    with pytest.raises(Refusal, match="does not fit"):
        await refused
    assert (ran, words(tmp_path)) == (["first"], ["first", "last"])


def submit_between(
    writer: Writer, then: Callable[[sqlite3.Connection], str], *, brief: bool
) -> list[asyncio.Future[str]]:
    """Submit work, and the next work while it runs, so that each has its own transaction."""
    is_running, is_followed = threading.Event(), threading.Event()

    def run(connection: sqlite3.Connection) -> str:
        is_running.set()
        is_followed.wait(20)
        return insert(connection, "first")

    first = writer.submit(run, brief=True)
    is_running.wait(20)
    following = writer.submit(then, brief=brief)
    is_followed.set()
    return [first, following]


async def test_a_result_does_not_wait_for_long_work(writer: Writer) -> None:
    """Only brief work may delay what is durable."""
    is_received = threading.Event()

    def wait(_: sqlite3.Connection) -> str:
        return str(is_received.wait(20))

    first, following = submit_between(writer, wait, brief=False)

    assert await first == "first"
    is_received.set()
    assert await following == "True"


async def test_a_result_is_received_during_the_commit_of_the_next_transaction(writer: Writer) -> None:
    """A durable result waits for no sync but its own."""
    is_received, waits = threading.Event(), list[bool]()

    def then(connection: sqlite3.Connection) -> str:
        connection.set_trace_callback(lambda sql: waits.append(is_received.wait(20)) if sql == "COMMIT" else None)
        return insert(connection, "last")

    first, following = submit_between(writer, then, brief=True)

    assert await first == "first"
    is_received.set()
    assert await following == "last"
    assert waits == [True]


@pytest.mark.parametrize("brief", [True, False])
async def test_a_result_is_received_even_if_the_next_transaction_fails(writer: Writer, brief: bool) -> None:
    """What is durable is acknowledged."""
    first, following = submit_between(writer, lambda connection: insert(connection, "first"), brief=brief)

    assert await first == "first"
    with pytest.raises(Refusal):
        await following
