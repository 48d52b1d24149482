"""Start, address and stop of the server."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import AsyncGenerator
from pathlib import Path

import httpx2
import pytest

from callboard.adapters.http import server
from callboard.adapters.http.server import NEXT_PORTS, HttpServer, bind
from callboard.contracts.errors import Refusal
from callboard.contracts.live import Cursor
from callboard.contracts.record import Record
from tests.adapters.http.rigs.server import API, SOON, TOKEN, Board, serving


@pytest.fixture
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Extend the time for a graceful stop on a busy machine."""
    monkeypatch.setattr(server, "_MAX_STOP_SECONDS", 2 * int(SOON))


async def test_a_busy_port_moves_on(board: Board):
    other = await HttpServer.start(board.app, port=board.server.port)
    try:
        assert board.server.port < other.port <= board.server.port + NEXT_PORTS
        assert other.url == f"http://127.0.0.1:{other.port}"
        assert other.create_page_link("/s/ses_1").link.startswith(f"{other.url}/#open=")
        async with httpx2.AsyncClient(base_url=other.url) as client:
            assert (await client.get("/healthz")).json() == {"ok": True}
    finally:
        await other.stop()


def test_if_the_next_ports_are_busy_any_free_port_is_used():
    first = bind("127.0.0.1", 65535)
    try:
        with bind("127.0.0.1", 65535) as other:
            assert other.getsockname()[1] not in (0, 65535)
    finally:
        first.close()


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.2", "example.com", ""])
def test_a_public_host_is_refused(host: str):
    """SAFE-04"""
    with pytest.raises(Refusal) as refused:
        bind(host, 0)

    assert (refused.value.code, refused.value.problem.field) == ("bad_settings", "host")


async def test_answers_are_sent_at_once(board: Board):
    """Nagle's algorithm would delay each answer by about 40 ms."""
    await board.http.get("/healthz")

    (connection,) = board.server.list_connections()
    accepted: socket.socket = connection.get_extra_info("socket")
    assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0


@pytest.mark.usefixtures("unhurried")
async def test_stopping_ends_every_stream_at_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
):
    """A graceful stop waits for answers, and streams do not end. They are closed without an abort."""
    monkeypatch.setattr(server, "GRACE", 2 * SOON)
    async with serving(tmp_path) as board:
        session = await board.session()
        workspace = await board.workspace()
        paths = [f"sessions/{session}/ops", f"sessions/{session}/facts", f"workspaces/{workspace}/ops"]

        async def follow(path: str, began: asyncio.Event) -> None:
            async with board.http.stream("GET", f"{API}/{path}", timeout=None) as answer:
                async for _ in answer.aiter_raw():
                    began.set()

        began = [asyncio.Event() for _ in range(30)]
        followers = [asyncio.create_task(follow(paths[n % 3], event)) for n, event in enumerate(began)]
        async with asyncio.timeout(SOON):
            await asyncio.gather(*(event.wait() for event in began))

        async with asyncio.timeout(SOON):
            await board.server.stop()
            await asyncio.gather(*followers)  # raises if a stream was aborted
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


class Endless:
    """An endless feed."""

    async def follow_ops(self, stream: str, *, after: Cursor | None) -> AsyncGenerator[bytes]:
        while True:
            yield b"event: ops\ndata: " + b"x" * 1_000_000 + b"\n\n"

    async def follow_facts(self, stream: str, *, after: int) -> AsyncGenerator[tuple[Record, ...]]:
        yield ()


@pytest.mark.usefixtures("unhurried")
@pytest.mark.parametrize("case", ["a blob", "a stream"])
async def test_stopping_does_not_wait_for_a_client_that_reads_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, case: str
):
    async with serving(tmp_path, feeds=Endless()) as board:
        workspace, blob = await board.workspace(), await board.blob(b"x" * 20_000_000)
        path = f"blobs/{blob}" if case == "a blob" else f"workspaces/{workspace}/ops"
        reader, writer = await asyncio.open_connection("127.0.0.1", board.server.port, limit=1)
        request = f"GET {API}/{path} HTTP/1.1\r\nHost: 127.0.0.1:{board.server.port}\r\n"
        writer.write(f"{request}Authorization: Bearer {TOKEN}\r\n\r\n".encode())
        await reader.readexactly(9)

        async with asyncio.timeout(SOON):
            await board.server.stop()

        writer.close()
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


async def test_a_stopped_server_answers_nothing_and_can_be_stopped_again(board: Board):
    await board.server.stop()
    await board.server.stop()

    with pytest.raises(httpx2.ConnectError):
        await board.http.get("/healthz")


async def test_the_port_of_a_stopped_server_is_free_at_once(board: Board):
    await board.http.get("/healthz")
    await board.server.stop()

    again = await HttpServer.start(board.app, port=board.server.port)
    try:
        assert again.port == board.server.port
    finally:
        await again.stop()
