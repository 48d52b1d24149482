"""Content and size of the store's files."""

from __future__ import annotations

from pathlib import Path

from callboard.contracts.live import build_partial_key
from callboard.contracts.ports.store import Views
from callboard.contracts.rows.base import Upsert
from callboard.log.sqlite import open_store

from .samples import (
    SCOPE,
    STREAM,
    Session,
    batch,
    fill,
    frame,
    long_text_fact,
    stored_conversation,
    text_fact,
    turn_row,
    wait_until,
)

SECRET = "PLANTED-SECRET-7f3a"


def holders(folder: Path) -> list[str]:
    """Return the files that contain the secret."""
    return [path.name for path in sorted(folder.iterdir()) if SECRET.encode() in path.read_bytes()]


async def test_a_log_is_little_larger_than_its_content(tmp_path: Path) -> None:
    """Design numbers: 1.2 times the content and 350 bytes per fact, with all other tables."""
    store = open_store(tmp_path)
    sessions = [Session(f"ses_{number:026}", 1, number) for number in range(8)]
    for _ in range(20):
        for session in sessions:
            for each in session.turn():
                await store.facts.append(each)
    await store.close()

    facts = sum(session.facts for session in sessions)
    content = sum(session.content for session in sessions)
    assert facts == 8 * 20 * 18
    assert (tmp_path / "callboard.db").stat().st_size <= 1.2 * content + 350 * facts


async def test_no_file_has_a_byte_of_an_erased_payload(tmp_path: Path) -> None:
    """Design rule: an erasure removes everything derived from the payload."""
    store = open_store(tmp_path)
    await store.partials.write(STREAM, 1, [frame(f"{SECRET} " * 500)])
    short, (long, blobs) = text_fact(f"{SECRET} short"), long_text_fact(f"{SECRET} " * 2000)
    ends = (build_partial_key("text", SCOPE),)
    await store.facts.append(batch(0, text_fact("one"), short, long, key=SECRET[-4:], blobs=blobs, ends=ends))
    await fill(store, 300, "ses_two")
    row = turn_row("trn_1", 1, text=SECRET)
    await store.rows.write(STREAM, [Upsert("turns", row)], Views(watermark=3, fingerprint="1", state=SECRET.encode()))
    await store.rows.save_snapshot(STREAM, 3, b"link", "1", SECRET.encode())
    large = f"{SECRET} ".encode() * 2000
    await store.conversations.save(STREAM, stored_conversation("thr_a", SECRET.encode(), large), ["thr_a"])
    assert holders(tmp_path)

    await store.facts.erase(STREAM, 2)
    await store.facts.erase(STREAM, 3)

    assert holders(tmp_path) == []
    assert (await store.facts.verify(STREAM)).sequence == 3
    await store.close()
    assert holders(tmp_path) == []


async def test_a_deleted_stream_frees_its_space(tmp_path: Path) -> None:
    """Design rule: a deletion frees space."""
    path = tmp_path / "callboard.db"
    store = open_store(tmp_path)
    await fill(store, 5, "ses_small")
    long, blobs = long_text_fact(f"{SECRET} " * 100_000)
    await store.facts.append(batch(0, long, *(text_fact(f"{SECRET} {each}" * 20) for each in range(5000)), blobs=blobs))
    await wait_until(lambda: path.stat().st_size > 5_000_000)

    await store.facts.delete(STREAM)

    await wait_until(lambda: path.stat().st_size < 200_000)
    await wait_until(lambda: holders(tmp_path) == [])
    assert (await store.facts.verify("ses_small")).sequence == 5
    await store.close()


async def test_trimmed_contents_free_their_space(tmp_path: Path) -> None:
    """Design rule: retention frees space and leaves no byte."""
    path = tmp_path / "callboard.db"
    store = open_store(tmp_path)
    long, blobs = long_text_fact(f"{SECRET} " * 200_000)
    await store.facts.append(batch(0, long, blobs=blobs))
    await store.conversations.save(STREAM, stored_conversation("thr_a", blobs[0].data), ["thr_a"])
    await wait_until(lambda: path.stat().st_size > 3_000_000)

    await store.facts.trim(STREAM, 16_384)

    assert [name for name in holders(tmp_path) if name.startswith("views.db")] == []

    await wait_until(lambda: path.stat().st_size < 200_000)
    await wait_until(lambda: (tmp_path / "callboard.db-wal").stat().st_size == 0)
    assert blobs[0].data[2048:-2048] not in path.read_bytes()
    await store.close()


async def test_partial_text_is_stored_once_and_then_removed(tmp_path: Path) -> None:
    """Design rule: partials are appended to, and deleted with the batch that finishes the part."""
    path, wal = tmp_path / "callboard.db", tmp_path / "callboard.db-wal"
    store = open_store(tmp_path)
    text = "a reply that is long " * 20_000
    for at in range(0, len(text), 2000):
        await store.partials.write(STREAM, 1, [frame(text[at : at + 2000], at)])
    assert path.stat().st_size + wal.stat().st_size < 1.2 * len(text) + 8_000_000
    await wait_until(lambda: wal.stat().st_size == 0)
    assert path.stat().st_size < 1.2 * len(text) + 200_000

    fact, blobs = long_text_fact("short")
    await store.facts.append(batch(0, fact, blobs=blobs, ends=(build_partial_key("text", SCOPE),)))
    await wait_until(lambda: path.stat().st_size < 200_000)
    await store.close()


async def test_the_write_ahead_log_stays_bounded_under_load_and_empties_when_idle(tmp_path: Path) -> None:
    """Design rule: the WAL is bounded for any readers."""
    wal = tmp_path / "callboard.db-wal"
    store = open_store(tmp_path)
    following = store.facts.subscribe(STREAM)
    largest = written = 0
    while written < 60:
        facts = [text_fact("x" * 6000) for _ in range(60)]
        await store.facts.append(batch(written * 60, *facts))
        if not written:
            await anext(following)
        written += 1
        largest = max(largest, wal.stat().st_size)

    assert (tmp_path / "callboard.db").stat().st_size > 20_000_000
    assert largest < 10_000_000
    await wait_until(lambda: wal.stat().st_size == 0)
    await store.close()
