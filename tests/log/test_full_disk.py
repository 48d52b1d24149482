"""Errors of a full or failing disk, with their advice."""

from __future__ import annotations

import errno
import os
import sqlite3
from pathlib import Path

import pytest

from callboard.contracts.errors import Refusal
from callboard.contracts.ports.store import Views
from callboard.contracts.rows.base import Remove, Upsert
from callboard.log.sqlite import failures, open_store
from callboard.log.sqlite.failures import convert_os_error, to_refusal
from callboard.log.sqlite.views.rows import SqliteRows

from .samples import STREAM, turn_row


def error_of(code: int) -> sqlite3.Error:
    error = sqlite3.OperationalError("it failed")
    error.sqlite_errorcode = code
    return error


@pytest.mark.parametrize(
    ("code", "room", "refused", "advice"),
    [
        (sqlite3.SQLITE_FULL, True, "store_full", "Free some disk space"),
        (sqlite3.SQLITE_IOERR_SHMSIZE, True, "store_full", "Free some disk space"),
        (sqlite3.SQLITE_IOERR_FSYNC, False, "store_full", "Free some disk space"),
        (sqlite3.SQLITE_CANTOPEN, False, "store_full", "Free some disk space"),
        (sqlite3.SQLITE_IOERR_FSYNC, True, "store_unusable", "Check the disk"),
        (sqlite3.SQLITE_IOERR_READ, True, "store_unusable", "Check the disk"),
        (sqlite3.SQLITE_CANTOPEN, True, "store_unusable", "readable and writable"),
        (sqlite3.SQLITE_READONLY, True, "store_unusable", "readable and writable"),
        (sqlite3.SQLITE_CORRUPT, True, "store_unusable", "callboard restore"),
        (sqlite3.SQLITE_NOTADB, False, "store_unusable", "callboard restore"),
        (sqlite3.SQLITE_BUSY, True, "store_locked", "Close any other program"),
    ],
)
def test_r3_each_failure_has_its_advice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, refused: str, advice: str, *, room: bool
) -> None:
    """R3: a full disk never reads as a damaged store, and a damaged store never as a full disk."""
    if not room:
        monkeypatch.setattr(failures, "_MIN_FREE_BYTES", 1 << 62)

    refusal = to_refusal(error_of(code), str(tmp_path / "callboard.db"))

    assert (refusal.code, advice in refusal.problem.hint) == (refused, True), refusal.problem
    assert ("restore" in refusal.problem.hint) == (code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB))


@pytest.mark.parametrize(
    ("number", "refused", "advice"),
    [
        (errno.ENOSPC, "store_full", "Free some disk space"),
        (errno.EDQUOT, "store_full", "Free some disk space"),
        (errno.EIO, "store_unusable", "Check the disk"),
        (errno.EROFS, "store_unusable", "readable and writable"),
    ],
)
def test_r3_an_error_of_the_file_system_has_the_same_advice(number: int, refused: str, advice: str) -> None:
    """R3"""
    refusal = convert_os_error(OSError(number, os.strerror(number)), "/state/store")

    assert (refusal.code, advice in refusal.problem.hint) == (refused, True)


async def test_r3_rows_that_a_full_disk_refused_can_be_read(tmp_path: Path) -> None:
    """R3: reads include the unwritten rows, and have the same result after they are written."""
    store = open_store(tmp_path)
    await store.rows.write(STREAM, [_turn(1), _turn(2), _turn(3)], _views(1))
    limit = await _pages(store.rows, 0)
    large = [Upsert("turns", turn_row(f"trn_{number}", number)) for number in range(4, 4000)]

    with pytest.raises(Refusal) as refused:
        await store.rows.write(STREAM, [*large, Remove("turns", "trn_2")], _views(2))
    assert refused.value.code == "store_full"
    full = [
        await store.rows.read_rows(STREAM, "turns", limit=5),
        await store.rows.read_rows(STREAM, "turns", before=5, limit=3),
    ]
    assert [row.key for row in full[0]] == [f"trn_{number}" for number in range(3995, 4000)]
    assert [row.key for row in full[1]] == ["trn_1", "trn_3", "trn_4"]
    assert await store.rows.read_row(STREAM, "turns", "trn_2") is None

    await _pages(store.rows, limit)
    await store.rows.write(STREAM, [*large, Remove("turns", "trn_2")], _views(2))
    assert full == [
        await store.rows.read_rows(STREAM, "turns", limit=5),
        await store.rows.read_rows(STREAM, "turns", before=5, limit=3),
    ]
    await store.close()


def _turn(number: int) -> Upsert:
    return Upsert("turns", turn_row(f"trn_{number}", number))


def _views(watermark: int) -> Views:
    return Views(watermark=watermark, fingerprint="one", state=b"")


async def _pages(rows: object, pages: int) -> int:
    """Set the maximum number of pages of the views; 0 keeps it. Return the former maximum."""
    assert isinstance(rows, SqliteRows)
    writer = rows._writer
    assert writer is not None

    def bound(connection: sqlite3.Connection) -> int:
        (before,) = connection.execute("PRAGMA max_page_count").fetchone()
        (now,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages or now + 2}").fetchall()
        return before

    return await writer.submit(bound)
