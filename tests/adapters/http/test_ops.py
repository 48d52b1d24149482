"""Row operations: a snapshot, then every change once, for clients of any speed."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import httpx2

from callboard.runtime.dependencies import Limits
from tests.adapters.http.rigs.server import SOON, Board, serving
from tests.adapters.http.rigs.stream_client import Follower, View, open_stream


async def read_view(board: Board, path: str) -> View:
    """Return the view of a new client."""
    view = View()
    async with open_stream(board.http, path) as follower:
        view.take(await follower.event())
    assert view.snapshots == 1
    return view


async def test_a_client_gets_a_snapshot_and_then_every_change(board: Board):
    """CTL-10"""
    session = await board.session()
    path = f"sessions/{session}/ops"
    view = View()

    async with open_stream(board.http, path) as follower, asyncio.timeout(SOON):
        view.take(await follower.event())
        before = view.shows("turns")
        accepted = await board.command("submit_turn", text="a long one", sessionId=session)
        while not has_ended(view, accepted["turnId"]):
            view.take(await follower.event())

    assert view.snapshots == 1
    assert [row["turnId"] for row in before] != [row["turnId"] for row in view.shows("turns")]
    assert "word " * 40 in [row.get("content", {}).get("text") for row in view.shows("parts")]
    assert view.rows == (await read_view(board, path)).rows


async def test_a_client_that_drops_after_every_event_sees_no_gap_and_no_repeat(board: Board):
    """COM-14: also during a partial text."""
    session = await board.session()
    path = f"sessions/{session}/ops"
    view = await read_view(board, path)
    accepted = await board.command("submit_turn", text="a long one", sessionId=session)
    connections = 0

    async with asyncio.timeout(SOON):
        while not has_ended(view, accepted["turnId"]):
            async with open_stream(board.http, path, last=view.cursor) as follower:
                view.take(await follower.event())
            connections += 1

    assert connections > 2
    assert view.snapshots == 1
    assert "word " * 40 in [row.get("content", {}).get("text") for row in view.shows("parts")]
    assert view.rows == (await read_view(board, path)).rows


async def test_a_cursor_may_be_in_the_address_and_the_last_event_id_overrides_it(board: Board):
    session = await board.session()
    path = f"sessions/{session}/ops"
    view = await read_view(board, path)
    await board.command("update_session", sessionId=session, title="Another")
    await board.command("submit_turn", text="again", sessionId=session)

    async with asyncio.timeout(SOON):
        async with open_stream(board.http, path, after=view.cursor) as follower:
            by_address = await follower.event()
        async with open_stream(board.http, path, last=view.cursor, after="999.0") as follower:
            by_header = await follower.event()

    assert by_address.event == by_header.event == "ops"
    assert by_address.id.partition(".")[0] != (view.cursor or "").partition(".")[0]


async def test_an_unknown_cursor_gets_a_snapshot(board: Board):
    """UI-30, CTL-10"""
    session = await board.session()

    for last in ("999999.0", "1.77"):
        async with open_stream(board.http, f"sessions/{session}/ops", last=last) as follower, asyncio.timeout(SOON):
            assert (await follower.event()).event == "snapshot"


async def test_a_workspace_shows_its_sessions_live(board: Board):
    workspace = await board.workspace()
    view = View()

    async with open_stream(board.http, f"workspaces/{workspace}/ops") as follower, asyncio.timeout(SOON):
        view.take(await follower.event())
        assert view.shows("sessions") == []
        session = await board.session()
        while not any(row["state"] == "idle" for row in view.shows("sessions")):
            view.take(await follower.event())

    assert [row["sessionId"] for row in view.shows("sessions")] == [session]


async def test_a_slow_client_gets_a_snapshot_and_delays_no_other(tmp_path: Path):
    """UI-30: a client is a cursor into the ring, without a queue, and the writer never waits."""
    narrow = httpx2.AsyncHTTPTransport(socket_options=[(socket.SOL_SOCKET, socket.SO_RCVBUF, 32 * 1024)])
    limits = Limits(write_behind=0.01, ring_bytes=100_000)
    async with serving(tmp_path, limits=limits) as board, asyncio.timeout(3 * SOON):
        path = f"sessions/{await board.session()}/ops"
        client = httpx2.AsyncClient(
            transport=narrow, base_url=board.server.url, headers=board.http.headers, timeout=SOON
        )
        slow, quick = View(), View()
        async with client, open_stream(client, path) as reader, open_stream(board.http, path) as follower:
            slow.take(await reader.event())
            quick.take(await follower.event())
            for connection in board.server.list_connections():
                connection.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 16 * 1024)
            for turn in range(60):
                await submit_and_follow(board, follower, quick, f"{turn} {'x' * 7000}")

            buffered = max(connection.get_write_buffer_size() for connection in board.server.list_connections())
            while slow.cursor != quick.cursor:
                slow.take(await reader.event())

        assert (quick.snapshots, slow.snapshots) == (1, 2)
        assert buffered < 300_000
        assert slow.rows == (await read_view(board, path)).rows


async def submit_and_follow(board: Board, follower: Follower, view: View, text: str) -> None:
    """Submit a turn, and follow it to its end."""
    session = view.shows("session")[0]["sessionId"]
    accepted = await board.command("submit_turn", text=text, sessionId=session)
    while not has_ended(view, accepted["turnId"]):
        view.take(await follower.event())


def has_ended(view: View, turn: str) -> bool:
    """Return True if the view shows the end of the turn."""
    return any(row["turnId"] == turn and row.get("endedAt") for row in view.shows("turns"))
