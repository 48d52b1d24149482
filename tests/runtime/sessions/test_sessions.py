"""Sessions that are deleted, listed and followed over a restart."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from callboard.contracts.commands.session import DeleteSession, GetSession, OpenWorkspace, SessionUpdated, UpdateSession
from callboard.contracts.errors import Refusal
from callboard.contracts.live import parse_cursor
from callboard.contracts.rows.base import Upsert
from callboard.contracts.rows.session import SessionCard
from callboard.projection.rows import Table
from tests.runtime.rigs.runtime_rig import RuntimeRig, calls, events, open_runtime, says


async def run_turn(home: RuntimeRig) -> str:
    """Return a session with one completed turn."""
    turn = await home.submit("go")
    await home.until(turn.session_id, "turn.completed")
    return turn.session_id


async def test_a_deleted_session_cannot_be_opened(tmp_path: Path) -> None:
    """A following page reconnects at once when its stream ends. It must not recreate the session."""
    async with open_runtime(tmp_path, calls(says("Hi."))) as home:
        session = await run_turn(home)
        outcomes, looking = list[str](), asyncio.Event()

        def sees(_: Table) -> bool:
            outcomes.append("rows")
            looking.set()
            return False

        async def looks_on() -> None:
            while "unknown_session" not in outcomes:
                try:
                    await home.watch(session, sees)
                except AssertionError:
                    continue
                except Refusal as refusal:
                    outcomes.append(refusal.code)

        page = asyncio.create_task(looks_on())
        await looking.wait()
        await home.do(DeleteSession(session_id=session, confirm=session))
        async with asyncio.timeout(10):
            await page
        assert [entry for entry in outcomes if entry != "rows"] == ["unknown_session"]
        assert home.runtime.sessions.open_sessions() == []
        with pytest.raises(Refusal, match="There is no session"):
            await home.do(GetSession(session_id=session))
        with pytest.raises(Refusal, match="There is no session"):
            await home.submit("again", session)


async def test_a_repeated_deletion_has_the_first_answer(tmp_path: Path) -> None:
    """CTL-01."""
    async with open_runtime(tmp_path, calls(says("Hi."))) as home:
        session = await run_turn(home)
        gone = await home.do(DeleteSession(session_id=session, confirm=session), key="once")
        assert await home.do(DeleteSession(session_id=session, confirm=session), key="once") == gone
    async with open_runtime(tmp_path, calls(says("Hi."))) as home:
        assert await home.do(DeleteSession(session_id=session, confirm=session), key="once") == gone


async def test_a_list_cursor_is_invalid_after_a_restart(tmp_path: Path) -> None:
    """COM-14: cards change without facts of the workspace. A client of the former process receives
    a snapshot."""
    async with open_runtime(tmp_path, calls(*[says("Hi.")] * 9)) as home:
        session = await run_turn(home)
        await home.do(UpdateSession(session_id=session, pinned=True))
        follow = home.runtime.feeds.follow_ops(home.workspace, after=None)
        first = await anext(follow)
        await follow.aclose()
        before = parse_cursor(first.decode().split("\n")[0].removeprefix("id: "))
    assert before is not None
    async with open_runtime(tmp_path, calls(*[says("Hi.")] * 9)) as home:
        for count in range(2, 7):
            await home.submit("again", session)
            await home.until(session, "turn.completed", count=count)
        await home.read(session)
        follow = home.runtime.feeds.follow_ops(home.workspace, after=before)
        kinds = events(await anext(follow))
        await follow.aclose()
        assert [kind for kind, _ in kinds] == ["snapshot"]
        ((_, ops),) = kinds
        cards = [op.row for op in ops if isinstance(op, Upsert) and isinstance(op.row, SessionCard)]
        assert [(card.key, card.pinned) for card in cards] == [(session, True)]


async def test_concurrent_changes_are_each_answered_with_their_own_result(tmp_path: Path) -> None:
    """CTL-01: an answer is decided together with its facts."""
    async with open_runtime(tmp_path, calls(says("Hi."))) as home:
        session = await run_turn(home)
        answers = await asyncio.gather(
            home.do(UpdateSession(session_id=session, pinned=True)),
            home.do(UpdateSession(session_id=session, title="New")),
            home.do(UpdateSession(session_id=session, title="Newer")),
        )
        assert answers == [
            SessionUpdated(session_id=session, title=title, pinned=True, archived=False, sequence=sequence)
            for title, sequence in (("go", 3), ("New", 4), ("Newer", 5))
        ]


async def test_concurrent_openings_of_a_folder_make_one_workspace(tmp_path: Path) -> None:
    """CTL-01: no caller receives a conflict."""
    async with open_runtime(tmp_path, calls(says("Hi."))) as home:
        folder = tmp_path / "other"
        folder.mkdir()
        answers = await asyncio.gather(*(home.do(OpenWorkspace(path=str(folder))) for _ in range(5)))
        assert answers == [answers[0]] * 5


async def test_the_key_of_an_opened_folder_cannot_open_another(tmp_path: Path) -> None:
    """CTL-01: the same key with another body is refused."""
    async with open_runtime(tmp_path, calls(says("Hi."))) as home:
        folder = tmp_path / "other"
        folder.mkdir()
        first = await home.do(OpenWorkspace(path=str(folder)), key="once")
        assert await home.do(OpenWorkspace(path=str(folder)), key="once") == first
        with pytest.raises(Refusal, match="used for another request"):
            await home.do(OpenWorkspace(path=str(home.folder)), key="once")


@pytest.mark.parametrize("inside", ["", "deeper"])
async def test_callboards_own_folders_cannot_be_workspaces(tmp_path: Path, inside: str) -> None:
    """SAFE-04: an agent there could read the token and the store."""
    async with open_runtime(tmp_path, calls(says("Hi."))) as home:
        folder = tmp_path / "state" / inside
        folder.mkdir(exist_ok=True)
        with pytest.raises(Refusal) as refused:
            await home.do(OpenWorkspace(path=str(folder)))
        assert (refused.value.code, refused.value.problem.field) == ("no_folder", "path")
