"""Checks of sound and damaged stores, and reads of damaged ones."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from callboard.contracts.errors import Refusal
from callboard.contracts.ports.store import Views
from callboard.contracts.rows.base import Upsert
from callboard.log.sqlite import open_store
from callboard.log.sqlite.blobs import CHECKED_ALWAYS
from callboard.log.sqlite.upkeep.store_check import QUICK_FACTS, check_store
from tests.log.samples import STREAM, batch, fill, long_text_fact, stored_conversation, turn_row

LARGE = CHECKED_ALWAYS + 5


async def write_store(folder: Path, size: int = 20_000) -> str:
    """Write two streams and a blob. Return the hash of the blob."""
    store = open_store(folder)
    await fill(store, 6)
    await fill(store, 3, "ses_other")
    fact, blobs = long_text_fact("x" * size)
    await store.facts.append(batch(6, fact, blobs=blobs))
    await store.rows.write(
        STREAM, [Upsert("turns", turn_row("trn_1", 1))], Views(watermark=7, fingerprint="1", state=b"")
    )
    await store.rows.save_snapshot(STREAM, 7, b"l" * 32, "1", b"state")
    await store.conversations.save(STREAM, stored_conversation("thr_a"), ["thr_a"])
    await store.close()
    return blobs[0].ref.hash


def change(folder: Path, *statements: str, file: str = "callboard.db") -> None:
    """Change the store with another connection."""
    with closing(sqlite3.connect(folder / file)) as outside:
        for statement in statements:
            outside.execute(statement)
        outside.commit()


async def test_r6_a_sound_store_has_no_damage(tmp_path: Path) -> None:
    """R6"""
    await write_store(tmp_path)

    checked = check_store(tmp_path)

    assert (checked.streams, checked.facts, checked.blobs, checked.blob_bytes) == (2, 10, 1, 20_000)
    assert (checked.is_sound, checked.damages) == (True, ())


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("UPDATE facts SET payload = zeroblob(3) WHERE stream = 1 AND sequence = 4", ("fact", STREAM, 4)),
        ("UPDATE facts SET header = zeroblob(3) WHERE stream = 2 AND sequence = 2", ("fact", "ses_other", 2)),
        ("DELETE FROM facts WHERE stream = 1 AND sequence = 1", ("fact", STREAM, 1)),
        ("DELETE FROM facts WHERE stream = 1 AND sequence = 7", ("fact", STREAM, 7)),
        ("UPDATE streams SET head = 6 WHERE number = 1", ("fact", STREAM, 6)),
        ("UPDATE streams SET head = 0 WHERE number = 1", ("fact", STREAM, 1)),
        ("UPDATE streams SET head = 'x' WHERE number = 1", ("fact", STREAM, 1)),
        ("UPDATE streams SET link = 'x' WHERE number = 1", ("fact", STREAM, 1)),
        ("DELETE FROM blobs", ("reference", STREAM, 7)),
    ],
)
async def test_r6_each_damage_is_reported_with_its_fact(
    tmp_path: Path, statement: str, named: tuple[str, str, int]
) -> None:
    """R6: the other stream is also checked."""
    await write_store(tmp_path)
    change(tmp_path, statement)

    checked = check_store(tmp_path)

    reported = [(damage.kind, damage.name, damage.sequence) for damage in checked.damages if damage.is_loss]
    assert (reported, checked.is_sound, checked.streams) == ([named], False, 2)
    assert "callboard restore" in checked.damages[0].advice


async def test_r6_facts_of_a_stream_without_a_name_are_damage(tmp_path: Path) -> None:
    """R6: a store with an unreachable session is damaged."""
    await write_store(tmp_path)
    change(tmp_path, "DELETE FROM streams WHERE number = 1")

    checked = check_store(tmp_path)

    assert [(damage.kind, damage.name) for damage in checked.damages if damage.is_loss] == [("fact", "1")]
    assert "7 facts" in checked.damages[0].message


@pytest.mark.parametrize("table", ["head", "store"])
async def test_r6_a_store_with_a_damaged_table_is_refused_with_the_reason(tmp_path: Path, table: str) -> None:
    """R6, S1: a read of any damage is refused with a code and advice."""
    await write_store(tmp_path)
    change(tmp_path, "UPDATE streams SET head = 'x' WHERE number = 1" if table == "head" else "DELETE FROM store")

    with pytest.raises(Refusal) as refused:
        await _read(tmp_path)

    assert refused.value.code == ("chain_broken" if table == "head" else "store_unusable")


async def _read(folder: Path) -> None:
    store = open_store(folder)
    try:
        await store.facts.read(STREAM)
    finally:
        await store.close()


async def test_r6_a_damaged_blob_is_reported_with_the_fact_that_uses_it(tmp_path: Path) -> None:
    """R6, R5"""
    hash = await write_store(tmp_path)
    change(tmp_path, "UPDATE blobs SET data = zeroblob(length(data))")

    (reported,) = check_store(tmp_path).damages

    assert (reported.kind, reported.name) == ("blob", hash)
    assert f"{STREAM}/7" in reported.message


async def test_r6_unreadable_pages_are_reported_as_damage(tmp_path: Path) -> None:
    """R6: the damage is all over the file, and the check reads the rest."""
    await write_store(tmp_path)
    path = tmp_path / "callboard.db"
    original = path.read_bytes()
    for at in range(0, len(original), 4096):
        path.write_bytes(original[:at] + b"\xa5" * 4096 + original[at + 4096 :])
        assert _reports_damage(tmp_path), f"page {at // 4096}"


def _reports_damage(folder: Path) -> bool:
    """Return whether a check reports damage or an unusable file."""
    try:
        return not check_store(folder).is_sound
    except Refusal as refusal:
        return refusal.code == "store_unusable"


async def test_r6_views_ahead_of_the_log_are_no_loss(tmp_path: Path) -> None:
    """R6: they are derived."""
    await write_store(tmp_path)
    change(tmp_path, "UPDATE views SET watermark = 99", file="views.db")

    checked = check_store(tmp_path)

    assert [(damage.kind, damage.name, damage.sequence) for damage in checked.damages] == [("views", STREAM, 99)]
    assert checked.is_sound


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("UPDATE rows SET data = substr(data, 1, 9) || x'00' || substr(data, 11)", (STREAM, "row trn_1")),
        ("UPDATE rows SET place = place + 1", (STREAM, "row trn_1")),
        ("UPDATE rows SET key = 'trn_2'", (STREAM, "row trn_2")),
        ("UPDATE panels SET panel = 'parts'", (STREAM, "panel parts")),
        ("DELETE FROM panels", ("None", "row trn_1")),
        ("UPDATE views SET state = state || x'00'", (STREAM, "view state")),
        ("UPDATE views SET watermark = 1", (STREAM, "view state")),
        ("UPDATE views SET watermark = 'x'", (STREAM, "view state")),
        ("UPDATE snapshots SET state = x'00'", (STREAM, "snapshot")),
        ("UPDATE snapshots SET link = zeroblob(32)", (STREAM, "snapshot")),
        ("UPDATE conversations SET data = data || x'00'", (STREAM, "conversation of thr_a")),
        ("UPDATE conversations SET sequence = sequence - 1", (STREAM, "conversation of thr_a")),
        ("UPDATE conversations SET thread = 'thr_b'", (STREAM, "conversation of thr_b")),
        ("UPDATE conversations SET link = zeroblob(32)", (STREAM, "conversation of thr_a")),
        ("UPDATE views_of SET store = 'rtm_other'", ("views.db", "belong to another store")),
    ],
)
async def test_r6_each_changed_value_of_the_views_is_reported(
    tmp_path: Path, statement: str, named: tuple[str, str]
) -> None:
    """R6: the damage has a stable code, and no data is lost."""
    await write_store(tmp_path)
    assert check_store(tmp_path).damages == ()
    change(tmp_path, statement, file="views.db")

    checked = check_store(tmp_path)

    (reported,) = checked.damages
    assert (reported.kind, reported.code, Path(reported.name).name) == ("views", "rows_damaged", named[0])
    assert named[1] in reported.message
    assert "No data is lost" in reported.advice
    assert checked.is_sound


async def test_r6_random_bytes_in_the_pages_of_the_views_are_reported(tmp_path: Path) -> None:
    """R6: every used page: values, indexes and the schema."""
    await write_store(tmp_path)
    path = tmp_path / "views.db"
    with closing(sqlite3.connect(path)) as views:
        views.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    original = path.read_bytes()
    for at in range(0, len(original), 4096):
        path.write_bytes(original[: at + 16] + b"\xa5" * 4080 + original[at + 4096 :])
        checked = check_store(tmp_path)
        assert {damage.code for damage in checked.damages} == {"rows_damaged"}, f"page {at // 4096}"
        assert checked.is_sound


async def test_r6_views_of_an_older_layout_are_no_damage(tmp_path: Path) -> None:
    """R6: the next start replaces them."""
    await write_store(tmp_path)
    change(tmp_path, "PRAGMA user_version = 7", "DROP TABLE snapshots", file="views.db")
    assert check_store(tmp_path).damages == ()


async def test_r6_a_check_runs_while_another_process_writes(tmp_path: Path) -> None:
    """R6"""
    await write_store(tmp_path)
    store = open_store(tmp_path)
    at = (await store.facts.read_head(STREAM)).sequence
    for number in range(3):
        fact, _ = long_text_fact("more")
        await store.facts.append(batch(at + number, fact, epoch=store.epoch))
        checked = check_store(tmp_path)
        assert (checked.is_sound, checked.facts) == (True, 11 + number)
    await store.close()


async def test_a_quick_check_reads_the_newest_facts_and_blobs(tmp_path: Path) -> None:
    """R5"""
    store = open_store(tmp_path)
    await fill(store, 500)
    await store.close()
    change(tmp_path, "UPDATE facts SET payload = zeroblob(3) WHERE sequence = 7")

    assert check_store(tmp_path, whole=False).is_sound
    assert not check_store(tmp_path).is_sound
    change(tmp_path, "UPDATE facts SET payload = zeroblob(3) WHERE sequence = 490")
    assert [damage.sequence for damage in check_store(tmp_path, whole=False).damages] == [490]
    # The last blob before the checked ones.
    change(tmp_path, f"DELETE FROM facts WHERE sequence = {500 - QUICK_FACTS}")
    assert [damage.sequence for damage in check_store(tmp_path, whole=False).damages] == [500 - QUICK_FACTS]


@pytest.mark.parametrize("size", [20_000, LARGE])
async def test_r5_a_blob_with_wrong_bytes_is_not_served(tmp_path: Path, size: int) -> None:
    """R5: as a whole and as a range, before and after the change."""
    hash = await write_store(tmp_path, size)
    change(tmp_path, "UPDATE blobs SET data = CAST(replace(CAST(data AS TEXT), 'xx', 'xy') AS BLOB)")
    store = open_store(tmp_path, read_only=True)

    for read in (store.blobs.get(hash), store.blobs.get_range(hash, offset=3, length=5)):
        with pytest.raises(Refusal) as refused:
            await read
        assert refused.value.code == "blob_damaged"
        assert "callboard check" in refused.value.problem.hint
    await store.close()


async def test_a_large_blob_is_read_by_page(tmp_path: Path) -> None:
    """R5: it is verified once and not for each page."""
    hash = await write_store(tmp_path, LARGE)
    store = open_store(tmp_path, read_only=True)

    pages = [await store.blobs.get_range(hash, offset=at, length=500_000) for at in range(0, LARGE, 500_000)]

    assert b"".join(page or b"" for page in pages) == b"x" * LARGE
    await store.close()


READS: tuple[Callable[..., object], ...] = (
    lambda store: store.facts.read(STREAM),
    lambda store: store.facts.read_bytes(STREAM, after=2, limit=2),
    lambda store: store.facts.read(STREAM, after=3, until=4),
    lambda store: store.facts.read_arrivals(),
    lambda store: anext(store.facts.subscribe(STREAM)),
)


@pytest.mark.parametrize("read", READS)
async def test_every_read_of_facts_verifies_their_links(tmp_path: Path, read: Callable[..., object]) -> None:
    """Every read of a changed fact is refused with its sequence."""
    await write_store(tmp_path)
    change(tmp_path, "UPDATE facts SET payload = replace(payload, 'text', 'test') WHERE stream = 1 AND sequence = 4")
    store = open_store(tmp_path, read_only=True)

    with pytest.raises(Refusal, match=f"{STREAM}/4") as refused:
        await read(store)  # pyright: ignore[reportGeneralTypeIssues]

    assert refused.value.code == "chain_broken"
    assert len(await store.facts.read(STREAM, until=3)) == 3
    assert len(await store.facts.read("ses_other")) == 3
    await store.close()
