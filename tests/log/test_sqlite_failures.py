"""Full disks, damaged files, kills and closes: acknowledged facts stay, and failed work leaves nothing."""

from __future__ import annotations

import asyncio
import os
import random
import resource
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from callboard.contracts.errors import Refusal
from callboard.contracts.ports.store import Views
from callboard.contracts.rows.base import Upsert
from callboard.log.sqlite import SqliteStore, open_store
from callboard.log.sqlite.ledger import Ledger
from callboard.log.sqlite.removal import delete
from callboard.log.sqlite.upkeep.store_check import check_store

from .processes import child
from .samples import STREAM, batch, fill, long_text_fact, text_fact, turn_row, wait_until


async def allow_pages(store: SqliteStore, more: int) -> None:
    """Limit the growth of the file to a number of pages, like a full disk."""
    assert store._writer is not None

    def bound(connection: sqlite3.Connection) -> None:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages + more}").fetchall()

    await store._writer.submit(bound)


async def test_on_a_full_disk_only_the_batch_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    """CTL-14"""
    store = open_store(tmp_path)
    await fill(store, 1)
    await allow_pages(store, 8)
    large, blobs = long_text_fact("x" * 500_000)
    attempts = [batch(0, text_fact("small"), stream=f"ses_{number}") for number in range(5)]
    attempts.insert(2, batch(1, large, key="large", blobs=blobs))

    outcomes = await asyncio.gather(*(store.facts.append(attempt) for attempt in attempts), return_exceptions=True)

    codes = [outcome.code if isinstance(outcome, Refusal) else "stored" for outcome in outcomes]
    assert codes == ["stored", "stored", "store_full", "stored", "stored", "stored"]
    assert (await store.facts.verify(STREAM)).sequence == 1
    assert await store.facts.find_answer("large") is None
    assert await store.blobs.get(blobs[0].ref.hash) is None

    await allow_pages(store, 1000)
    await store.facts.append(attempts[2])
    assert (await store.facts.verify(STREAM)).sequence == 2
    await store.close()


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER drops AFTER INSERT ON facts BEGIN DELETE FROM facts; END",
        "CREATE VIEW other AS SELECT * FROM facts",
    ],
    ids=["trigger", "view"],
)
async def test_a_store_with_a_trigger_of_another_tool_is_refused_before_it_loses_a_fact(
    tmp_path: Path, statement: str
) -> None:
    """R6: SQLite runs a trigger within the acknowledged transaction."""
    store = open_store(tmp_path)
    await fill(store, 2)
    await store.close()
    with closing(sqlite3.connect(tmp_path / "callboard.db")) as other:
        other.execute(statement)
        other.commit()

    for use in (open_store, lambda folder: check_store(folder, progress=lambda _: None)):
        with pytest.raises(Refusal, match="triggers or views") as refused:
            use(tmp_path)
        assert refused.value.code == "store_unusable"


@pytest.mark.parametrize(
    ("statement", "undo"),
    [
        ("CREATE TRIGGER drops AFTER INSERT ON facts BEGIN DELETE FROM facts; END", "DROP TRIGGER drops"),
        ("CREATE VIEW other AS SELECT * FROM facts", "DROP VIEW other"),
    ],
    ids=["trigger", "view"],
)
async def test_a_trigger_that_another_tool_adds_to_an_open_store_loses_no_fact(
    tmp_path: Path, statement: str, undo: str
) -> None:
    """R6: the transaction also checks the layout after opening."""
    store = open_store(tmp_path)
    await fill(store, 2)
    with closing(sqlite3.connect(tmp_path / "callboard.db")) as other:
        other.execute(statement)
        other.commit()
        writes = [asyncio.create_task(store.facts.append(batch(2, text_fact("a")))) for _ in range(3)]
        refused = await asyncio.gather(*writes, return_exceptions=True)
        assert [isinstance(refusal, Refusal) and refusal.code for refusal in refused] == ["store_unusable"] * 3
        assert "triggers or views" in str(refused[0])
        assert (await store.facts.verify(STREAM)).sequence == 2

        other.execute(undo)
        other.execute("CREATE INDEX harmless ON partials (kind)")
        other.commit()
    await store.facts.append(batch(2, text_fact("a")))
    assert (await store.facts.verify(STREAM)).sequence == 3
    await store.close()


async def test_views_with_a_trigger_of_another_tool_are_rebuilt(tmp_path: Path) -> None:
    """R5: a trigger in the derived file could drop rows of the page."""
    store = open_store(tmp_path)
    await store.close()
    with closing(sqlite3.connect(tmp_path / "views.db")) as other:
        other.execute("CREATE TRIGGER drops AFTER INSERT ON rows BEGIN DELETE FROM rows; END")
        other.commit()
    store = open_store(tmp_path)
    await store.close()
    with closing(sqlite3.connect(tmp_path / "views.db")) as other:
        assert other.execute("SELECT count(*) FROM sqlite_schema WHERE type = 'trigger'").fetchone() == (0,)


async def test_the_limit_of_open_files_is_reported_and_keeps_the_views(tmp_path: Path) -> None:
    """R5: SQLite reports it like a damaged file, for which views are rebuilt."""
    store = open_store(tmp_path)
    await fill(store, 2)
    await store.close()
    views = (tmp_path / "views.db").stat().st_ino
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    first = os.dup(0)
    os.close(first)
    refusals: list[Refusal] = []
    for more in range(1, 64):
        resource.setrlimit(resource.RLIMIT_NOFILE, (first + more, hard))
        try:
            store = open_store(tmp_path)
        except Refusal as refusal:
            refusals.append(refusal)
        else:
            break
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        assert (tmp_path / "views.db").stat().st_ino == views
    await store.close()

    assert len(refusals) > 3
    assert {refusal.code for refusal in refusals} == {"store_unusable"}
    assert all("too many open files" in refusal.problem.message for refusal in refusals), refusals
    assert all("ulimit" in refusal.problem.hint for refusal in refusals)


async def test_closing_finishes_queued_work(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    waiting = [asyncio.create_task(fill(store, 3, f"ses_{number}")) for number in range(50)]
    await asyncio.sleep(0)
    await store.close()

    assert [len(await task) for task in waiting] == [3] * 50
    with pytest.raises(Refusal, match="closed"):
        await store.facts.append(batch(0, text_fact("late"), stream="ses_late"))
    with pytest.raises(Refusal, match="closed"):
        await store.facts.read("ses_1")
    await store.close()
    assert names_in(tmp_path) == {"callboard.db", "views.db", "writer.lock"}

    again = open_store(tmp_path)
    assert len(await again.facts.list_streams("ses_")) == 50
    await again.close()


async def test_queued_work_is_written_in_one_transaction(tmp_path: Path) -> None:
    """Design rule: group commit."""
    store = open_store(tmp_path)
    assert store._writer is not None
    statements: list[str] = []
    begun, blocked = threading.Event(), threading.Event()

    def hold(connection: sqlite3.Connection) -> None:
        connection.set_trace_callback(statements.append)
        begun.set()
        blocked.wait(20)

    holding = store._writer.submit(hold)
    await wait_until(begun.is_set)
    waiting = [asyncio.create_task(fill(store, 2, f"ses_{number}")) for number in range(64)]
    await asyncio.sleep(0)
    blocked.set()
    await asyncio.gather(holding, *waiting)

    assert statements.count("COMMIT") == 2
    await store.close()


async def test_every_connection_reads_an_acknowledged_fact(tmp_path: Path) -> None:
    """Design rule: nothing is acknowledged before its facts are committed."""
    store = open_store(tmp_path)
    other = sqlite3.connect(tmp_path / "callboard.db")
    for number in range(20):
        await store.facts.append(batch(number, text_fact("text")))
        assert other.execute("SELECT max(sequence) FROM facts").fetchone() == (number + 1,)
    other.close()
    await store.close()


async def test_a_killed_process_loses_no_acknowledged_fact(tmp_path: Path) -> None:
    """Design rule: acknowledged means committed."""
    moments = random.Random(7)
    epoch = 0
    for _ in range(6):
        with child("write", tmp_path) as writer:
            assert writer.epoch == epoch + 1
            acknowledged = [writer.line() for _ in range(moments.randrange(1, 120))] + writer.kill()

        store = open_store(tmp_path)
        epoch = store.epoch
        for stream, sequence, key in acknowledged:
            assert (await store.facts.read_head(stream)).sequence >= int(sequence)
            assert await store.facts.find_answer(key) is not None
        for stream in await store.facts.list_streams("ses_"):
            records = await store.facts.read(stream, limit=100_000)
            assert [record.sequence for record in records] == list(range(1, len(records) + 1))
            assert (await store.facts.verify(stream)).sequence == len(records)
            assert [partial.text for partial in await store.partials.read(stream)] in ([], ["so far"])
        await store.close()


async def test_a_log_that_another_tool_changed_does_not_verify(tmp_path: Path) -> None:
    """Design rule: the chain."""
    for statement, sequence in (
        ("UPDATE facts SET payload = replace(payload, 'text 3', 'text X') WHERE sequence = 3", 3),
        ("DELETE FROM facts WHERE sequence = 4", 4),
        ("DELETE FROM facts WHERE sequence = 6", 6),
        ("UPDATE facts SET sequence = sequence - 1 WHERE sequence = 2; DELETE FROM facts WHERE sequence = 1", 1),
    ):
        folder = tmp_path / str(sequence)
        store = open_store(folder)
        await fill(store, 6)
        await fill(store, 2, "ses_other")
        await store.close()
        outside = sqlite3.connect(folder / "callboard.db")
        outside.execute("DROP INDEX facts_by_stream")
        outside.executescript(
            "".join(f"{each} AND stream = 1;" if "WHERE" in each else each for each in statement.split(";"))
        )
        outside.close()

        reader = open_store(folder, read_only=True)
        with pytest.raises(Refusal, match=f"{STREAM}/{sequence}") as refused:
            await reader.facts.verify(STREAM)
        assert refused.value.code == "chain_broken"
        assert (await reader.facts.verify("ses_other")).sequence == 2
        await reader.close()


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


async def read_all(folder: Path, *, read_only: bool) -> None:
    store = open_store(folder, read_only=read_only)
    try:
        await store.facts.read(STREAM)
    finally:
        await store.close()


@pytest.mark.parametrize("damage", ["garbage", "cut", "other program", "newer"])
async def test_an_unreadable_log_is_refused_with_advice(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "callboard.db"
    store = open_store(tmp_path)
    await fill(store, 200)
    await store.close()
    if damage == "garbage":
        path.write_bytes(b"no database at all" * 5000)
    elif damage == "cut":
        path.write_bytes(path.read_bytes()[:5000])
    else:
        setting = "application_id" if damage == "other program" else "user_version"
        with sqlite3.connect(path) as other:
            other.execute(f"PRAGMA {setting} = 99")
        other.close()
    before = path.read_bytes()

    for read_only in (False, True):
        with pytest.raises(Refusal, match=str(path)) as refused:
            await read_all(tmp_path, read_only=read_only)
        assert refused.value.code == "store_unusable"
        assert ("Update Callboard" if damage == "newer" else "backup") in refused.value.problem.hint
    assert path.read_bytes() == before


async def test_unsuitable_views_are_rebuilt(tmp_path: Path) -> None:
    """Design rule: unsuitable rows are discarded."""
    views = tmp_path / "views.db"

    async def write() -> None:
        store = open_store(tmp_path)
        assert await store.rows.read_views(STREAM) is None
        await store.rows.write(
            STREAM, [Upsert("turns", turn_row("trn_1", 1))], Views(watermark=1, fingerprint="1", state=b"")
        )
        await store.close()

    def change(statement: str) -> None:
        with sqlite3.connect(views) as outside:
            outside.execute(statement)
        outside.close()

    await write()
    views.write_bytes(b"no database at all" * 5000)
    await write()
    views.write_bytes(b"")
    await write()
    for statement in (
        "PRAGMA user_version = 99",
        "PRAGMA user_version = 2147483647",
        "PRAGMA application_id = 2147483647",
        "UPDATE views_of SET store = 'rtm_other'",
        "UPDATE views_of SET erasures = 7",
        "DROP TABLE views_of",
    ):
        change(statement)
        reader = open_store(tmp_path, read_only=True)
        assert await reader.rows.read_views(STREAM) is None
        assert await reader.rows.read_rows(STREAM, "turns") == ()
        await reader.close()
        await write()


async def test_damaged_views_are_rebuilt_at_the_next_start(tmp_path: Path) -> None:
    views = tmp_path / "views.db"
    store = open_store(tmp_path)
    rows = [Upsert("turns", turn_row(f"trn_{number}", number)) for number in range(500)]
    await store.rows.write(STREAM, rows, Views(watermark=1, fingerprint="1", state=b""))
    await store.close()
    healthy = views.read_bytes()
    first_pages = 6 * 4096
    views.write_bytes(healthy[:first_pages] + b"\xa5" * (len(healthy) - first_pages))

    store = open_store(tmp_path)
    with pytest.raises(Refusal, match=r"views\.db") as refused:
        await store.rows.read_rows(STREAM, "turns")
    assert refused.value.code == "store_unusable"
    assert "rebuilt from the log" in refused.value.problem.hint
    await fill(store, 1)
    await store.close()

    store = open_store(tmp_path)
    assert await store.rows.read_rows(STREAM, "turns") == ()
    await store.close()


async def test_an_interrupted_delete_is_finished_after_reopening(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    await fill(store, 3000)
    await fill(store, 1, "ses_two")
    assert store._writer is not None
    ledger = store._writer._hooks
    assert isinstance(ledger, Ledger)
    await store._writer.submit(lambda connection: delete(connection, ledger, STREAM))
    await store.close()
    assert _count(tmp_path, "SELECT count(*) FROM facts") == 3001

    store = open_store(tmp_path)
    assert await store.facts.list_streams("") == ("ses_two",)
    await wait_until(lambda: _count(tmp_path, "SELECT count(*) FROM facts") == 1)
    await wait_until(lambda: _count(tmp_path, "SELECT count(*) FROM streams") == 1)
    await store.close()


def _count(folder: Path, query: str) -> int:
    connection = sqlite3.connect(folder / "callboard.db")
    try:
        return connection.execute(query).fetchone()[0]
    finally:
        connection.close()


async def test_s1_discarded_views_are_not_returned(tmp_path: Path) -> None:
    """S1: otherwise a session would continue without the discarded rows."""
    store = open_store(tmp_path)
    await fill(store, 3)
    rows = [Upsert("turns", turn_row(f"trn_{number}", number)) for number in (1, 2)]
    await store.rows.write(STREAM, rows, Views(watermark=3, fingerprint="1", state=b"folded"))
    outside = sqlite3.connect(tmp_path / "views.db", isolation_level=None)
    outside.execute("UPDATE rows SET data = x'00' WHERE key = 'trn_1'")
    # The discard waits for this transaction.
    outside.execute("BEGIN IMMEDIATE")
    reading = asyncio.create_task(store.rows.read_row(STREAM, "turns", "trn_1"))
    await wait_until(lambda: store.rows.is_discarded(STREAM))
    opening = asyncio.create_task(store.rows.read_views(STREAM))
    await asyncio.wait([opening], timeout=0.3)
    outside.execute("COMMIT")
    outside.close()

    with pytest.raises(Refusal, match="rows_damaged"):
        await reading
    assert (await opening, await store.rows.read_views(STREAM)) == (None, None)
    await store.close()
