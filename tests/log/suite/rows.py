"""View rows, watermarks and snapshots."""

from __future__ import annotations

import pytest

from callboard.contracts.ports.store import Store, Views
from callboard.contracts.rows.base import AppendText, Remove, Upsert

from ..samples import STREAM, turn_row


class RowSuite:
    VIEWS = Views(watermark=7, fingerprint="3", state=b"folded")

    async def test_rows_and_watermark_are_written_together(self, store: Store) -> None:
        """Design rule: view rows are written behind the log with a watermark."""
        assert await store.rows.read_views(STREAM) is None
        first, second = turn_row("trn_1", 10), turn_row("trn_2", 20)

        await store.rows.write(STREAM, [Upsert("turns", second), Upsert("turns", first)], self.VIEWS)

        assert await store.rows.read_views(STREAM) == self.VIEWS
        assert await store.rows.read_rows(STREAM, "turns") == (first, second)
        assert await store.rows.read_row(STREAM, "turns", "trn_2") == second
        assert await store.rows.read_row(STREAM, "turns", "trn_3") is None
        assert await store.rows.read_rows(STREAM, "parts") == ()

    async def test_operations_apply_in_order(self, store: Store) -> None:
        first_, second = turn_row("trn_1", 10), turn_row("trn_1", 30, text="changed")
        other = turn_row("trn_2", 20)
        ops = [Upsert("turns", first_), Upsert("turns", other), Upsert("turns", second), Remove("turns", "trn_2")]
        await store.rows.write(STREAM, ops, self.VIEWS)
        assert await store.rows.read_rows(STREAM, "turns") == (second,)

        later = Views(watermark=8, fingerprint="3", state=b"more")
        await store.rows.write(STREAM, [Remove("turns", "trn_1"), Upsert("turns", other), Remove("turns", "x")], later)
        assert await store.rows.read_rows(STREAM, "turns") == (other,)
        assert await store.rows.read_views(STREAM) == later

    async def test_live_operations_are_never_stored(self, store: Store) -> None:
        live = AppendText("parts", "run_a.1", "content.text", 0, "x")
        with pytest.raises(ValueError, match="append is for live frames"):
            await store.rows.write(STREAM, [Upsert("turns", turn_row("trn_1", 1)), live], self.VIEWS)

        assert await store.rows.read_views(STREAM) is None
        assert await store.rows.read_rows(STREAM, "turns") == ()

    async def test_a_window_has_the_newest_rows_that_fit(self, store: Store) -> None:
        rows = [turn_row(f"trn_{order:03}", order, text="x" * 1000) for order in range(1, 101)]
        await store.rows.write(STREAM, [Upsert("turns", row) for row in rows], self.VIEWS)

        assert await store.rows.read_rows(STREAM, "turns", limit=3) == tuple(rows[-3:])
        assert await store.rows.read_rows(STREAM, "turns", before=51, limit=2) == tuple(rows[48:50])
        assert await store.rows.read_rows(STREAM, "turns", before=1) == ()
        bounded = await store.rows.read_rows(STREAM, "turns", max_bytes=10_000)
        assert bounded == tuple(rows[-len(bounded) :])
        assert 5 <= len(bounded) < 10
        assert await store.rows.read_rows(STREAM, "turns", max_bytes=10) == (rows[-1],)

    async def test_consecutive_windows_have_every_row_once(self, store: Store) -> None:
        rows = [turn_row(f"trn_{number:03}", number // 3) for number in range(30)]
        await store.rows.write(STREAM, [Upsert("turns", row) for row in rows], self.VIEWS)

        keys: list[str] = []
        before: int | None = None
        while window := await store.rows.read_rows(STREAM, "turns", before=before, limit=4):
            keys = [row.key for row in window] + keys
            before = window[0].order

        assert keys == [row.key for row in rows]

    async def test_one_panel_is_read_across_streams_newest_first(self, store: Store) -> None:
        for number, stream in enumerate(("ses_a", "ses_b", "ses_c")):
            ops = [Upsert("turns", turn_row(f"trn_{stream}", 10 - number)), Upsert("parts", turn_row("other", 1))]
            await store.rows.write(stream, ops, self.VIEWS)

        assert [row.key for row in await store.rows.read_all_rows("turns", "3")] == [
            "trn_ses_a",
            "trn_ses_b",
            "trn_ses_c",
        ]
        assert await store.rows.read_all_rows("none", "3") == ()

    async def test_rows_of_a_panel_that_lack_facts_can_be_omitted(self, store: Store) -> None:
        """After a crash they show what the process did before."""
        for stream in ("ses_a", "ses_b", "ses_c"):
            await store.rows.write(stream, [Upsert("turns", turn_row(f"trn_{stream}", 1))], self.VIEWS)

        mark = self.VIEWS.watermark
        rows = await store.rows.read_all_rows("turns", "3", {"ses_a": mark, "ses_b": mark + 1})
        assert {row.key for row in rows} == {"trn_ses_a", "trn_ses_c"}

    async def test_clearing_removes_rows_watermark_and_snapshot(self, store: Store) -> None:
        for stream in (STREAM, "ses_two"):
            await store.rows.write(stream, [Upsert("turns", turn_row("trn_1", 1))], self.VIEWS)
            await store.rows.save_snapshot(stream, 5, b"link", "2", b"state")

        await store.rows.clear(STREAM)

        assert await store.rows.read_views(STREAM) is None
        assert await store.rows.read_rows(STREAM, "turns") == ()
        assert await store.rows.read_snapshot(STREAM, "2") is None
        assert await store.rows.read_views("ses_two") == self.VIEWS
        assert await store.rows.read_snapshot("ses_two", "2") == (5, b"link", b"state")

    async def test_a_snapshot_of_another_fingerprint_is_ignored(self, store: Store) -> None:
        """Design rule: a snapshot has a sequence, a chain link and a fingerprint; an unsuitable one is discarded."""
        await store.rows.save_snapshot(STREAM, 5, b"link", "2", b"state")
        assert await store.rows.read_snapshot(STREAM, "3") is None

        await store.rows.save_snapshot(STREAM, 9, b"newer", "3", b"state 3")
        assert await store.rows.read_snapshot(STREAM, "3") == (9, b"newer", b"state 3")
        assert await store.rows.read_snapshot(STREAM, "2") is None
