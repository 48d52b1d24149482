"""Lists during a rebuild of rows: they wait, or report that they are incomplete."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from callboard.contracts.commands.session import ListSessions, SessionList
from callboard.contracts.rows.base import Upsert
from callboard.contracts.rows.session import WorkspaceRow
from callboard.runtime.runtime import Runtime
from tests.runtime.rigs.runtime_rig import RuntimeRig, open_runtime, says

COUNT = 6


async def _fill_store(folder: Path) -> None:
    async with open_runtime(folder, {"calls": [says("Done.")]}) as rig:
        for number in range(COUNT):
            turn = await rig.submit(f"Session {number}")
            await rig.until(turn.session_id, "turn.completed")


def _delete_views(folder: Path) -> None:
    for path in folder.rglob("views.db*"):
        path.unlink()


async def _list(rig: RuntimeRig) -> SessionList:
    listed: SessionList = await rig.do(ListSessions())
    return listed


async def test_r2_a_list_without_views_is_complete_or_reports_missing_sessions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R2: missing sessions are counted in the answer and in the workspace's row."""
    await _fill_store(tmp_path)
    _delete_views(tmp_path)
    held, recovered = asyncio.Event(), Runtime._recover_session

    async def slowly(self: Runtime, *rest: object) -> None:
        await held.wait()
        await recovered(self, *rest)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(Runtime, "_recover_session", slowly)
    async with open_runtime(tmp_path, {"calls": [says("Done.")]}, rebuild_wait=0.01) as rig:
        listed = await _list(rig)
        assert (len(listed.sessions), listed.rebuilding, listed.missing) == (0, True, COUNT)
        assert _read_workspace_rows(rig) == [COUNT]
        held.set()
        while (listed := await _list(rig)).rebuilding:
            assert len(listed.sessions) + listed.missing == COUNT
        assert (len(listed.sessions), listed.missing, _read_workspace_rows(rig)) == (COUNT, 0, [0])


async def test_r2_a_list_waits_briefly_for_rebuilt_rows(tmp_path: Path) -> None:
    """R2"""
    await _fill_store(tmp_path)
    _delete_views(tmp_path)
    async with open_runtime(tmp_path, {"calls": [says("Done.")]}, rebuild_wait=60.0) as rig:
        listed = await _list(rig)
        assert (len(listed.sessions), listed.rebuilding, listed.missing) == (COUNT, False, 0)


async def test_r2_a_complete_list_is_answered_at_once(tmp_path: Path) -> None:
    """R2: no request waits when views exist, and a new session is not missing."""
    await _fill_store(tmp_path)
    async with open_runtime(tmp_path, {"calls": [says("Done.")]}, rebuild_wait=3600.0) as rig:
        await rig.submit("One more")
        listed = await _list(rig)
        assert (len(listed.sessions) >= COUNT, listed.rebuilding, listed.missing) == (True, False, 0)


def _read_workspace_rows(rig: RuntimeRig) -> list[int]:
    """Return the workspace rows as a page receives them."""
    ops = [op for host in rig.runtime.workspaces.all() for op in host.snapshot()]
    return [op.row.rebuilding for op in ops if isinstance(op, Upsert) and isinstance(op.row, WorkspaceRow)]
