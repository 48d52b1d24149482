"""Rows of sessions without a reader: they follow later, and are current when a client reads them."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from callboard.contracts.commands.session import ListSessions
from callboard.contracts.errors import Refusal
from callboard.contracts.rows.session import SessionCard
from callboard.contracts.rows.turn import TurnRow
from callboard.log.sqlite.store import open_store
from callboard.log.sqlite.views.rows import SqliteRows
from callboard.projection.rows import Table
from tests.runtime.rigs.runtime_rig import PATIENCE, RuntimeRig, calls, events, open_runtime, says

NEVER = 3600.0


async def run_turn(rig: RuntimeRig) -> str:
    turn = await rig.submit("hello")
    await rig.until(turn.session_id, "turn.completed")
    return turn.session_id


async def read_stored_card(rig: RuntimeRig, session: str) -> SessionCard | None:
    row = await rig.runtime.dependencies.store.rows.read_row(session, "sessions", session)
    return row if isinstance(row, SessionCard) else None


async def has_stored_card(rig: RuntimeRig, session: str) -> bool:
    return await read_stored_card(rig, session) is not None


async def test_facts_are_folded_when_a_client_reads(tmp_path: Path) -> None:
    """R8: a session without a client costs its facts and no rows."""
    async with open_runtime(tmp_path, calls(says("Done.")), fold_behind=NEVER) as rig:
        session = await run_turn(rig)
        unread = [card.key for card in rig.runtime.workspaces.get(rig.workspace).cards()]

        listed = await rig.do(ListSessions(workspace_id=rig.workspace))
        table = await rig.watch(session, lambda table: bool(table.list_rows(TurnRow)))

        assert unread == []
        assert [(card.key, card.state) for card in listed.sessions] == [(session, "idle")]
        assert [row.state for row in table.list_rows(TurnRow)] == ["completed"]


async def test_a_follower_of_the_list_sees_sessions_without_clients(tmp_path: Path) -> None:
    """R8"""
    async with open_runtime(tmp_path, calls(says("Done.")), fold_behind=NEVER) as rig:
        table, sessions = Table(), list[str]()
        async with asyncio.timeout(PATIENCE):
            async for chunk in rig.runtime.feeds.follow_ops(rig.workspace, after=None):
                for _, ops in events(chunk):
                    table.apply(ops)
                if not sessions:
                    sessions.append(await run_turn(rig))
                cards = table.list_rows(SessionCard)
                if [card.state for card in cards] == ["idle"]:
                    break

        assert [card.key for card in cards] == sessions


async def test_a_follower_of_the_list_sees_the_end_of_a_turn_without_a_client(tmp_path: Path) -> None:
    """R8: text that arrived before the follower must not delay the facts after it."""
    spoken = [{"pause": 100}, {"text": "Begun."}, {"wait_for": "go.txt"}, {"text": " Done."}]
    async with open_runtime(tmp_path, calls(spoken), fold_behind=NEVER) as rig:
        turn = await rig.submit("hello")
        await rig.read(turn.session_id)
        await rig.wait_partial(turn.session_id, "Begun.")
        states, table = list[str](), Table()
        async with asyncio.timeout(PATIENCE):
            async for chunk in rig.runtime.feeds.follow_ops(rig.workspace, after=None):
                for _, ops in events(chunk):
                    table.apply(ops)
                states += [card.state for card in table.list_rows(SessionCard)]
                (tmp_path / "go.txt").touch()
                if states[-1:] == ["idle"]:
                    break

        assert states[0] == "running"


async def test_a_reader_receives_rows_although_the_views_are_renewed(tmp_path: Path) -> None:
    """R8"""
    async with open_runtime(tmp_path, calls(says("Done.")), fold_behind=NEVER) as rig:
        session = await run_turn(rig)
        opened = await rig.runtime.sessions.get(session)
        # As after damage of the stored rows: the next use reopens the views.
        opened.is_renewing = True

        async with asyncio.timeout(PATIENCE):
            reading = asyncio.create_task(opened.views.wait_for(opened.host.state.sequence))
            await rig.runtime.sessions.get(session)
            await reading
            read = await rig.read(session)

        assert read.last_turn is not None
        assert read.last_turn.state == "completed"


async def test_the_list_does_not_wait_for_views_that_cannot_be_renewed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R3: one session without rows leaves the list of the others."""
    async with open_runtime(tmp_path, calls(says("Done.")), fold_behind=NEVER) as rig:
        session = await run_turn(rig)
        await rig.read(session)
        (await rig.runtime.sessions.get(session)).is_renewing = True

        async def refuse(_: SqliteRows, stream: str) -> None:
            raise Refusal("store_unusable", f"The rows of {stream} cannot be read.", hint="Check the disk.")

        monkeypatch.setattr(SqliteRows, "read_views", refuse)
        with pytest.raises(Refusal, match="cannot be read"):
            await rig.runtime.sessions.get(session)
        async with asyncio.timeout(PATIENCE):
            listed = await rig.do(ListSessions(workspace_id=rig.workspace))
        monkeypatch.undo()

        assert [card.key for card in listed.sessions] == [session]


async def test_the_list_waits_for_views_that_are_being_rebuilt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """R3"""
    async with open_runtime(tmp_path, calls(says("Done.")), fold_behind=NEVER) as rig:
        session = await run_turn(rig)
        (await rig.runtime.sessions.get(session)).is_renewing = True
        loading, listing = asyncio.Event(), asyncio.Event()

        async def find_none(_: SqliteRows, stream: str) -> None:
            loading.set()
            await listing.wait()

        monkeypatch.setattr(SqliteRows, "read_views", find_none)
        async with asyncio.timeout(PATIENCE):
            renewing = asyncio.create_task(rig.runtime.sessions.get(session))
            await loading.wait()
            waiting = asyncio.create_task(rig.runtime.sessions.wait_shown())
            # The task begins to wait before the views have found that there are no rows.
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            listing.set()
            await renewing
            await waiting
            listed = await rig.do(ListSessions(workspace_id=rig.workspace))
        monkeypatch.undo()

        assert [(card.key, card.state) for card in listed.sessions] == [(session, "idle")]


async def test_closing_writes_the_rows_of_the_facts_that_it_adds(tmp_path: Path) -> None:
    """R8: a stopped server leaves no session that looks as if it were running."""
    async with open_runtime(tmp_path, calls([{"wait_for": "never.txt"}]), fold_behind=NEVER, write_behind=0.2) as rig:
        turn = await rig.submit("hello")
        await rig.until(turn.session_id, "model.requested")
        await rig.read(turn.session_id)
        # Later facts are not folded in the same step.
        await rig.wait_until(lambda: has_stored_card(rig, turn.session_id))

    store = open_store(tmp_path / "state")
    views, head = await store.rows.read_views(turn.session_id), await store.facts.read_head(turn.session_id)
    card = await store.rows.read_row(turn.session_id, "sessions", turn.session_id)
    await store.close()
    assert views is not None
    assert views.watermark == head.sequence
    assert isinstance(card, SessionCard)
    assert card.state == "interrupted"


async def test_rows_follow_after_a_time_without_a_reader(tmp_path: Path) -> None:
    """R8: a crash leaves few facts to fold."""
    async with open_runtime(tmp_path, calls(says("Done.")), fold_behind=0.02, write_behind=0.02) as rig:
        session = await run_turn(rig)

        async def written() -> bool:
            card = await read_stored_card(rig, session)
            return card is not None and card.state == "idle"

        await rig.wait_until(written)


async def test_closing_a_session_writes_its_unread_rows(tmp_path: Path) -> None:
    """R8: the list shows closed sessions from their rows."""
    async with open_runtime(tmp_path, calls(says("Done.")), fold_behind=NEVER) as rig:
        session = await run_turn(rig)
        before = await read_stored_card(rig, session)

        await rig.runtime.sessions.release(session)

        after = await read_stored_card(rig, session)
        assert before is None
        assert after is not None
        assert after.state == "idle"


async def test_a_wait_for_a_fact_ends_when_its_views_close(tmp_path: Path) -> None:
    """R3: a fact can be durable before the views receive it."""
    async with open_runtime(tmp_path, calls(says("Done."))) as rig:
        session = await run_turn(rig)
        opened = await rig.runtime.sessions.get(session)
        waiting = asyncio.create_task(opened.views.wait_for(opened.host.state.sequence + 1))
        await rig.read(session)

        await rig.runtime.sessions.release(session)

        with pytest.raises(Refusal, match="not open any more") as refused:
            async with asyncio.timeout(PATIENCE):
                await waiting
        assert refused.value.code == "unreachable"
