"""Sessions that are deleted, listed and followed over a restart."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import pytest

from callboard.contracts.commands.session import DeleteSession, GetSession, OpenWorkspace, SessionUpdated, UpdateSession
from callboard.contracts.errors import Refusal
from callboard.contracts.live import parse_cursor
from callboard.contracts.rows.base import Upsert
from callboard.contracts.rows.session import SessionCard
from callboard.log.sqlite.store import SqliteStore
from callboard.projection.rows import Table
from callboard.runtime.clock import UuidIds
from callboard.runtime.session_registry import derive_session_id
from tests.runtime.rigs.runtime_rig import RuntimeRig, calls, events, open_runtime, says


async def run_turn(rig: RuntimeRig) -> str:
    """Return a session with one completed turn."""
    turn = await rig.submit("go")
    await rig.until(turn.session_id, "turn.completed")
    return turn.session_id


async def test_a_deleted_session_cannot_be_opened(tmp_path: Path) -> None:
    """A following page reconnects at once when its stream ends. It must not recreate the session."""
    async with open_runtime(tmp_path, calls(says("Hi."))) as rig:
        session = await run_turn(rig)
        outcomes, looking = list[str](), asyncio.Event()

        def sees(_: Table) -> bool:
            outcomes.append("rows")
            looking.set()
            return False

        async def looks_on() -> None:
            while "unknown_session" not in outcomes:
                try:
                    await rig.watch(session, sees)
                except AssertionError:
                    continue
                except Refusal as refusal:
                    outcomes.append(refusal.code)

        page = asyncio.create_task(looks_on())
        await looking.wait()
        await rig.do(DeleteSession(session_id=session, confirm=session))
        async with asyncio.timeout(10):
            await page
        assert [entry for entry in outcomes if entry != "rows"] == ["unknown_session"]
        assert rig.runtime.sessions.open_sessions() == []
        with pytest.raises(Refusal, match="There is no session"):
            await rig.do(GetSession(session_id=session))
        with pytest.raises(Refusal, match="There is no session"):
            await rig.submit("again", session)


async def test_a_repeated_deletion_has_the_first_answer(tmp_path: Path) -> None:
    """CTL-01."""
    async with open_runtime(tmp_path, calls(says("Hi."))) as rig:
        session = await run_turn(rig)
        gone = await rig.do(DeleteSession(session_id=session, confirm=session), key="once")
        assert await rig.do(DeleteSession(session_id=session, confirm=session), key="once") == gone
    async with open_runtime(tmp_path, calls(says("Hi."))) as rig:
        assert await rig.do(DeleteSession(session_id=session, confirm=session), key="once") == gone


async def test_a_list_cursor_is_invalid_after_a_restart(tmp_path: Path) -> None:
    """COM-14: cards change without facts of the workspace. A client of the former process receives
    a snapshot."""
    async with open_runtime(tmp_path, calls(*[says("Hi.")] * 9)) as rig:
        session = await run_turn(rig)
        await rig.do(UpdateSession(session_id=session, pinned=True))
        follow = rig.runtime.feeds.follow_ops(rig.workspace, after=None)
        first = await anext(follow)
        await follow.aclose()
        before = parse_cursor(first.decode().split("\n")[0].removeprefix("id: "))
    assert before is not None
    async with open_runtime(tmp_path, calls(*[says("Hi.")] * 9)) as rig:
        for count in range(2, 7):
            await rig.submit("again", session)
            await rig.until(session, "turn.completed", count=count)
        await rig.read(session)
        follow = rig.runtime.feeds.follow_ops(rig.workspace, after=before)
        kinds = events(await anext(follow))
        await follow.aclose()
        assert [kind for kind, _ in kinds] == ["snapshot"]
        ((_, ops),) = kinds
        cards = [op.row for op in ops if isinstance(op, Upsert) and isinstance(op.row, SessionCard)]
        assert [(card.key, card.pinned) for card in cards] == [(session, True)]


async def test_concurrent_changes_are_each_answered_with_their_own_result(tmp_path: Path) -> None:
    """CTL-01: an answer is decided together with its facts."""
    async with open_runtime(tmp_path, calls(says("Hi."))) as rig:
        session = await run_turn(rig)
        answers = await asyncio.gather(
            rig.do(UpdateSession(session_id=session, pinned=True)),
            rig.do(UpdateSession(session_id=session, title="New")),
            rig.do(UpdateSession(session_id=session, title="Newer")),
        )
        assert answers == [
            SessionUpdated(session_id=session, title=title, pinned=True, archived=False, sequence=sequence)
            for title, sequence in (("go", 3), ("New", 4), ("Newer", 5))
        ]


async def test_concurrent_openings_of_a_folder_make_one_workspace(tmp_path: Path) -> None:
    """CTL-01: no caller receives a conflict."""
    async with open_runtime(tmp_path, calls(says("Hi."))) as rig:
        folder = tmp_path / "other"
        folder.mkdir()
        answers = await asyncio.gather(*(rig.do(OpenWorkspace(path=str(folder))) for _ in range(5)))
        assert answers == [answers[0]] * 5


async def test_the_key_of_an_opened_folder_cannot_open_another(tmp_path: Path) -> None:
    """CTL-01: the same key with another body is refused."""
    async with open_runtime(tmp_path, calls(says("Hi."))) as rig:
        folder = tmp_path / "other"
        folder.mkdir()
        first = await rig.do(OpenWorkspace(path=str(folder)), key="once")
        assert await rig.do(OpenWorkspace(path=str(folder)), key="once") == first
        with pytest.raises(Refusal, match="used for another request"):
            await rig.do(OpenWorkspace(path=str(rig.folder)), key="once")


@pytest.mark.parametrize("inside", ["", "deeper"])
async def test_callboards_own_folders_cannot_be_workspaces(tmp_path: Path, inside: str) -> None:
    """SAFE-04: an agent there could read the token and the store."""
    async with open_runtime(tmp_path, calls(says("Hi."))) as rig:
        folder = tmp_path / "state" / inside
        folder.mkdir(exist_ok=True)
        with pytest.raises(Refusal) as refused:
            await rig.do(OpenWorkspace(path=str(folder)))
        assert (refused.value.code, refused.value.problem.field) == ("no_folder", "path")


async def test_a_session_that_a_full_disk_refused_is_not_listed(tmp_path: Path) -> None:
    """R3: its listing is smaller, so the disk still has space for it."""
    async with open_runtime(tmp_path, calls(says("Done."))) as rig:
        store = rig.runtime.dependencies.store
        assert isinstance(store, SqliteStore)
        assert store._writer is not None

        def limit(connection: sqlite3.Connection) -> None:
            (pages,) = connection.execute("PRAGMA page_count").fetchone()
            connection.execute(f"PRAGMA max_page_count = {pages + 12}").fetchall()

        await store._writer.submit(limit)
        with pytest.raises(Refusal) as refused:
            await rig.submit("x" * 400_000)
        # A small change of the workspace is stored after the refused one.
        await rig.do(OpenWorkspace(path=str(rig.folder)))
        types = await rig.types(rig.workspace)

        assert refused.value.code == "store_full"
        assert types == ["workspace.opened"]
        assert not rig.runtime.workspaces.get(rig.workspace).state.sessions


async def test_a_new_sessions_turn_does_not_wait_for_a_busy_workspace(tmp_path: Path) -> None:
    """Many sessions can start at once; the answer waits until the session is listed."""
    turn = UuidIds().new("turn")
    session = derive_session_id(turn)
    async with open_runtime(tmp_path, calls(says("Done."))) as rig:
        workspace = rig.runtime.workspaces.get(rig.workspace)
        async with workspace._lock:
            submitting = asyncio.ensure_future(rig.submit("go", turn_id=turn))
            await rig.until(session, "turn.completed")
            assert not submitting.done()
            assert session not in workspace.state.sessions
        assert (await submitting).session_id == session
        assert session in workspace.state.sessions
