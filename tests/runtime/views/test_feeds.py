"""Client streams: a window, then operations, from any cursor, without gaps or repeats."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from callboard.contracts.commands.session import DeleteSession, GetSession, GetTurns, UpdateSession
from callboard.contracts.errors import Refusal
from callboard.contracts.live import Cursor, parse_cursor
from callboard.contracts.rows import SESSION_PANELS
from callboard.contracts.rows.message import TextPart
from callboard.contracts.rows.queue import QueueRow
from callboard.contracts.rows.session import SessionCard
from callboard.contracts.rows.status import StatusRow
from callboard.contracts.rows.turn import TurnRow
from callboard.projection.rows import Table
from tests.runtime.rigs.runtime_rig import PATIENCE, RuntimeRig, calls, events, open_runtime, says, use_tool

LONG = "".join(f"word {number} " for number in range(2000))
STREAMED: list[dict[str, Any]] = [{"repeat": {"text": LONG, "times": 5}, "delay_ms": 1}]


async def read_first_event(
    rig: RuntimeRig, session: str, after: Cursor | None
) -> tuple[str, Cursor, AsyncGenerator[bytes]]:
    """Return the first event's name and cursor, and the rest of the stream."""
    stream = rig.runtime.feeds.follow_ops(session, after=after)
    async with asyncio.timeout(PATIENCE):
        chunk = await anext(stream)
    (name, _), *_ = events(chunk)
    return name, cursor(chunk), stream


def cursor(chunk: bytes) -> Cursor:
    """Return the client's cursor after this chunk."""
    last = chunk.decode().strip().split("\n\n")[-1]
    parsed = parse_cursor(last.split("\n")[0].removeprefix("id: "))
    assert parsed is not None
    return parsed


async def followed(rig: RuntimeRig, session: str, drop: int) -> Table:
    """Return the final rows of a client that reconnects after every `drop` chunks."""
    table, at, ended = Table(), None, False
    async with asyncio.timeout(PATIENCE):
        while not ended:
            stream = rig.runtime.feeds.follow_ops(session, after=at)
            received = 0
            async for chunk in stream:
                for name, ops in events(chunk):
                    table = Table() if name == "snapshot" else table
                    table.apply(ops)
                at, received = cursor(chunk), received + 1
                ended = any(row.ended_at for row in table.list_rows(TurnRow))
                if ended or received == drop:
                    break
            await stream.aclose()
    return table


@pytest.mark.parametrize("drop", [1, 2, 7])
async def test_a_reconnecting_client_shows_the_view_of_the_facts(tmp_path: Path, drop: int) -> None:
    """COM-14, UI-30, UI-34: no gap and no repeat, also in the middle of a text."""
    async with open_runtime(tmp_path, calls([{"text": "Look."}, *use_tool("Glob", pattern="*")], STREAMED)) as rig:
        turn = await rig.submit("describe all")
        table = await followed(rig, turn.session_id, drop)
        head = await rig.runtime.dependencies.store.facts.read_head(turn.session_id)
        await rig.do(GetSession(session_id=turn.session_id, wait_for=head.sequence))
        fresh = await rig.watch(turn.session_id, lambda _: True)
        assert {panel: table.group_rows().get(panel) for panel in SESSION_PANELS} == {
            panel: fresh.group_rows().get(panel) for panel in SESSION_PANELS
        }
        assert [part.content.ref is not None for part in fresh.list_rows(TextPart)] == [False, True]


async def test_a_former_processs_cursor_gets_a_snapshot_unless_it_is_the_newest(tmp_path: Path) -> None:
    """CTL-10: an unknown cursor is never guessed."""
    async with open_runtime(tmp_path, calls(says("Hi."))) as rig:
        turn = await rig.submit("hello")
        await rig.until(turn.session_id, "turn.completed")
        head = await rig.runtime.dependencies.store.facts.read_head(turn.session_id)
    async with open_runtime(tmp_path, calls(says("Hi."), says("More."))) as rig:
        name, at, stream = await read_first_event(rig, turn.session_id, Cursor(head.sequence, 3))
        assert (name, at) == ("snapshot", Cursor(head.sequence, 0))
        await stream.aclose()
        stream = rig.runtime.feeds.follow_ops(turn.session_id, after=Cursor(head.sequence, 0))
        coming = asyncio.ensure_future(anext(stream))
        await rig.submit("more", turn.session_id)
        async with asyncio.timeout(PATIENCE):
            assert [name for name, _ in events(await coming)][:1] == ["ops"]
        await stream.aclose()


async def test_a_client_that_falls_behind_the_ring_gets_a_snapshot(tmp_path: Path) -> None:
    """A slow client never delays the writer, and never misses an operation."""
    async with open_runtime(tmp_path, calls(*(says(LONG) for _ in range(6))), ring_bytes=20_000) as rig:
        turn = await rig.submit("one")
        await rig.until(turn.session_id, "turn.completed")
        _, _, stream = await read_first_event(rig, turn.session_id, None)
        for count in range(2, 6):
            await rig.submit("another", turn.session_id)
            await rig.until(turn.session_id, "turn.completed", count=count)
        head = await rig.runtime.dependencies.store.facts.read_head(turn.session_id)
        await rig.do(GetSession(session_id=turn.session_id, wait_for=head.sequence))
        async with asyncio.timeout(PATIENCE):
            chunk = await anext(stream)
        assert [name for name, _ in events(chunk)] == ["snapshot"]
        assert cursor(chunk) == Cursor(head.sequence, 0)
        await stream.aclose()


async def test_the_status_is_shown_before_the_first_text(tmp_path: Path) -> None:
    """UI-02: a submitted turn has its input and a real status before any answer."""
    waits: list[dict[str, Any]] = [{"wait_for": "go"}, {"text": "Now."}]
    async with open_runtime(tmp_path, calls(waits)) as rig:
        turn = await rig.submit("hello")
        table = await rig.watch(turn.session_id, lambda table: bool(table.list_rows(StatusRow)))
        (status,) = table.list_rows(StatusRow)
        assert (status.status, status.detail, status.turn_id) == ("preparing", "asking_model", turn.turn_id)
        assert [row.input.text for row in table.list_rows(TurnRow)] == ["hello"]
        assert table.list_rows(TextPart) == []
        (tmp_path / "go").touch()
        await rig.until(turn.session_id, "turn.completed")


async def test_the_session_list_is_live_and_its_changes_are_facts(tmp_path: Path) -> None:
    """UI-31: title, pin and archive are facts of the workspace."""
    async with open_runtime(tmp_path, calls(says("Hi."), says("Hi."))) as rig:
        turn = await rig.submit("hello")
        await rig.watch(rig.workspace, lambda table: any(card.turns for card in table.list_rows(SessionCard)))
        await rig.do(UpdateSession(session_id=turn.session_id, title="Greeting", pinned=True))
        table = await rig.watch(rig.workspace, lambda table: any(card.pinned for card in table.list_rows(SessionCard)))
        assert [(card.title, card.pinned) for card in table.list_rows(SessionCard)] == [("Greeting", True)]
        types = [record.header.type for record in await rig.runtime.dependencies.store.facts.read(rig.workspace)]
        assert types == [
            "workspace.opened",
            "workspace.session.listed",
            "workspace.session.titled",
            "workspace.session.pinned",
        ]


async def test_a_deleted_session_is_removed_and_its_chains_end_is_recorded(tmp_path: Path) -> None:
    """Deletion needs the id twice, and leaves the end of the chain."""
    async with open_runtime(tmp_path, calls(says("Hi."))) as rig:
        turn = await rig.submit("hello")
        await rig.until(turn.session_id, "turn.completed")
        head = await rig.runtime.dependencies.store.facts.read_head(turn.session_id)
        with pytest.raises(Refusal) as refused:
            await rig.do(DeleteSession(session_id=turn.session_id, confirm="yes"))
        assert (refused.value.code, refused.value.problem.field) == ("invalid_input", "confirm")
        gone = await rig.do(DeleteSession(session_id=turn.session_id, confirm=turn.session_id))
        assert (gone.last_sequence, gone.link) == (head.sequence, head.link.hex())
        with pytest.raises(Refusal) as refused:
            await rig.do(GetSession(session_id=turn.session_id))
        assert refused.value.code == "unknown_session"


async def test_older_turns_are_read_in_pages(tmp_path: Path) -> None:
    """UI-27: the newest window first, the rest on demand."""
    async with open_runtime(
        tmp_path, calls(*(says(f"Answer {number}.") for number in range(8))), snapshot_turns=3
    ) as rig:
        turn = await rig.submit("question 0")
        for number in range(1, 8):
            await rig.until(turn.session_id, "turn.completed", count=number)
            await rig.submit(f"question {number}", turn.session_id)
        await rig.until(turn.session_id, "turn.completed", count=8)
        read = await rig.do(GetSession(session_id=turn.session_id, turns=3))
        older = await rig.do(GetTurns(session_id=turn.session_id, before=read.turns[0].order, limit=3))
        assert [row.input.text for row in read.turns] == ["question 5", "question 6", "question 7"]
        assert [row.input.text for row in older.turns] == ["question 2", "question 3", "question 4"]
        window = await rig.watch(turn.session_id, lambda _: True)
        assert [row.input.text for row in window.list_rows(TurnRow)] == ["question 5", "question 6", "question 7"]


async def test_waiting_turns_do_not_displace_the_newest_answers(tmp_path: Path) -> None:
    """UI-27: the window counts started turns."""
    waits: list[dict[str, Any]] = [{"wait_for": "never"}]
    scenario = {"match": [{"text": "wait", "calls": [waits]}], "calls": [says("One."), says("Two.")]}
    async with open_runtime(tmp_path, scenario, snapshot_turns=2) as rig:
        turn = await rig.submit("question 1")
        await rig.until(turn.session_id, "turn.completed")
        await rig.submit("question 2", turn.session_id)
        await rig.until(turn.session_id, "turn.completed", count=2)
        for text in ("wait here", "next", "and next", "and last"):
            await rig.submit(text, turn.session_id)
        window = await rig.watch(turn.session_id, lambda table: len(table.list_rows(QueueRow)) == 3)
        begun = [row.input.text for row in window.list_rows(TurnRow) if row.started_at]
        assert begun == ["question 2", "wait here"]
