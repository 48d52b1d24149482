"""Writers and readers of a store, and refusals for other processes."""

from __future__ import annotations

import asyncio
import stat
from collections.abc import Awaitable
from pathlib import Path

import pytest

from callboard.contracts.errors import Refusal
from callboard.contracts.ports.store import Views
from callboard.contracts.rows.base import Upsert
from callboard.log.sqlite import open_store, writer

from .processes import child
from .samples import STREAM, batch, fill, first, frame, text_fact, turn_row


async def test_every_writer_increments_the_epoch(tmp_path: Path) -> None:
    """Design rule: the writer has a lease with an epoch."""
    ids: set[str] = set()
    for epoch in (1, 2, 3):
        store = open_store(tmp_path)
        ids.add(store.id)
        assert (store.epoch, await store.facts.acquire_lease(STREAM)) == (epoch, epoch)
        await store.facts.append(batch(epoch - 1, text_fact("text"), epoch=epoch))
        await store.close()
    reader = open_store(tmp_path, read_only=True)
    assert (reader.epoch, {reader.id}) == (3, ids)
    assert [record.header.epoch for record in await reader.facts.read(STREAM)] == [1, 2, 3]
    await reader.close()


async def test_facts_can_be_read_after_reopening(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    records = await fill(store, 3)
    await store.partials.write(STREAM, 1, [frame("so far")])
    await store.rows.write(STREAM, [], Views(watermark=3, fingerprint="1", state=b"s"))
    await store.close()

    again = open_store(tmp_path)
    assert await again.facts.read(STREAM) == records
    assert [partial.text for partial in await again.partials.read(STREAM)] == ["so far"]
    assert await again.rows.read_views(STREAM) == Views(watermark=3, fingerprint="1", state=b"s")
    assert (await again.facts.verify(STREAM)).sequence == 3
    await again.close()


def _commits(wal: Path) -> int:
    """Count the transactions in the write-ahead log. The last page of each has the size of the file."""
    data = wal.read_bytes()
    page, salts = int.from_bytes(data[8:12], "big"), data[16:24]
    frames = (data[start : start + 24] for start in range(32, len(data), 24 + page))
    return sum(frame[8:16] == salts and frame[4:8] != bytes(4) for frame in frames)


async def test_a_followed_batch_shares_the_transaction_of_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(tmp_path)
    await fill(store, 1)
    before = _commits(tmp_path / "callboard.db-wal")
    monkeypatch.setattr(writer, "LINGER", 30.0)
    leading = asyncio.ensure_future(store.facts.append(batch(1, text_fact("one"), followed=True)))
    assert (await store.facts.read_head(STREAM)).sequence == 1
    await asyncio.gather(leading, store.facts.append(batch(0, text_fact("two"), stream="ses_b")))
    assert _commits(tmp_path / "callboard.db-wal") == before + 1
    monkeypatch.setattr(writer, "LINGER", 0.0)
    await store.facts.append(batch(2, text_fact("three"), followed=True))
    assert [(await store.facts.read_head(stream)).sequence for stream in (STREAM, "ses_b")] == [3, 1]
    await store.close()


async def test_other_users_have_no_access_to_the_store(tmp_path: Path) -> None:
    store = open_store(tmp_path / "deep" / "store")
    await fill(store, 1)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "deep" / "store").iterdir()}
    assert stat.S_IMODE((tmp_path / "deep" / "store").stat().st_mode) == 0o700
    assert set(modes.values()) == {0o600}
    assert {"callboard.db", "callboard.db-wal", "views.db", "writer.lock"} <= set(modes)
    await store.close()


async def test_a_second_writer_is_refused_while_the_first_is_running(tmp_path: Path) -> None:
    """CTL-17"""
    with child("hold", tmp_path) as holder:
        with pytest.raises(Refusal, match=str(holder.process.pid)) as refused:
            open_store(tmp_path)
        assert refused.value.code == "store_locked"
        holder.kill()

    store = open_store(tmp_path)
    assert store.epoch == holder.epoch + 1
    await store.close()


async def test_a_writer_whose_lock_was_lost_is_fenced(tmp_path: Path) -> None:
    """CTL-17; Design rule: every append checks the epoch in its own transaction."""
    stale = open_store(tmp_path)
    await fill(stale, 2)
    (tmp_path / "writer.lock").unlink()
    replaced = open_store(tmp_path)
    await replaced.facts.append(batch(2, text_fact("three"), epoch=2))

    async def refused(attempt: Awaitable[object]) -> str:
        with pytest.raises(Refusal) as refusal:
            await attempt
        return refusal.value.code

    assert await refused(stale.facts.append(batch(3, text_fact("four"), epoch=1))) == "fenced"
    assert await refused(stale.facts.append(batch(0, text_fact("one"), stream="ses_new", epoch=1))) == "fenced"
    assert await refused(stale.partials.write(STREAM, 1, [frame("text")])) == "fenced"
    assert await refused(stale.facts.erase(STREAM, 1)) == "fenced"
    assert await refused(stale.facts.delete(STREAM)) == "fenced"
    assert (await replaced.facts.verify(STREAM)).sequence == 3
    await stale.close()
    await replaced.facts.append(batch(3, text_fact("four"), epoch=2))
    await replaced.close()


async def test_a_reader_follows_the_writer(tmp_path: Path) -> None:
    """COM-14; Design rule: a second process finds the writer, or reads only."""
    with child("write", tmp_path) as writer:
        while writer.line()[:2] not in (["ses_3", str(sequence)] for sequence in range(2, 9)):
            pass
        reader = open_store(tmp_path, read_only=True)
        followed = reader.facts.subscribe("ses_3", after=2)
        records = await first(followed, 60)
        await reader.close()
        assert writer.end() == 0

    assert [record.sequence for record in records] == list(range(3, 3 + len(records)))
    store = open_store(tmp_path)
    assert tuple(records) == await store.facts.read("ses_3", after=2, until=records[-1].sequence)
    await store.close()


async def test_a_reader_can_change_nothing(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    records = await fill(store, 2)
    reader = open_store(tmp_path, read_only=True)

    for attempt in (
        reader.facts.acquire_lease(STREAM),
        reader.facts.append(batch(2, text_fact("three"))),
        reader.facts.erase(STREAM, 1),
        reader.facts.delete(STREAM),
        reader.partials.write(STREAM, 1, [frame("text")]),
        reader.rows.write(STREAM, [], Views(watermark=1, fingerprint="1", state=b"")),
        reader.rows.clear(STREAM),
    ):
        with pytest.raises(Refusal) as refused:
            await attempt
        assert refused.value.code == "read_only"

    assert await reader.facts.read(STREAM) == records
    assert (await reader.facts.verify(STREAM)).sequence == 2
    await reader.close()
    await store.close()


async def test_a_reader_sees_rows_partials_blobs_and_removals(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    await fill(store, 2)
    reader = open_store(tmp_path, read_only=True)
    await store.partials.write(STREAM, 1, [frame("so far")])
    row = turn_row("trn_1", 1)
    await store.rows.write(STREAM, [Upsert("turns", row)], Views(watermark=2, fingerprint="1", state=b""))

    assert [partial.text for partial in await reader.partials.read(STREAM)] == ["so far"]
    assert await reader.rows.read_rows(STREAM, "turns") == (row,)
    following = reader.facts.subscribe(STREAM)
    await first(following, 2)
    await store.facts.delete(STREAM)
    async with asyncio.timeout(60):
        with pytest.raises(Refusal) as refused:
            await anext(following)
    assert refused.value.code == "gap"
    await reader.close()
    await store.close()


def test_a_missing_store_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(Refusal, match="no store") as refused:
        open_store(tmp_path / "none", read_only=True)
    assert refused.value.code == "store_unusable"
    assert not (tmp_path / "none").exists()


def test_a_folder_that_cannot_be_created_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(Refusal, match="Not a directory") as refused:
        open_store(tmp_path / "file" / "store")
    assert refused.value.code == "store_unusable"
