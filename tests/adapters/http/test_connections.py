"""X9: connections without a credential cannot block those with one."""

from __future__ import annotations

import asyncio
import resource
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx2
import msgspec
import pytest
import pytest_asyncio

from callboard.adapters.http import connections
from callboard.adapters.http.connections import ConnectionLimits
from callboard.contracts.errors import Problem
from tests.adapters.http.rigs.server import API, SOON, TOKEN, Board, serving

#: Sockets that an attacker opens at once.
FLOOD = 2_000
HEAD = "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"


@contextmanager
def _files_for_the_attacker() -> Iterator[None]:
    """Allow more files for the attacker's sockets; the server keeps the limits of 1,024 files."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 4 * FLOOD)), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest_asyncio.fixture
async def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Board]:
    """Provide a Callboard for four connections without a credential and two with one."""
    monkeypatch.setattr("callboard.adapters.http.server.compute_limits", lambda: ConnectionLimits(4, 2))
    async with serving(tmp_path) as board:
        yield board


def _open(board: Board, sends: str = "") -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", board.server.port))
    connection.settimeout(SOON)
    connection.sendall(sends.format(port=board.server.port).encode())
    return connection


async def _ended(connection: socket.socket) -> bytes:
    """Return the data until the server closes the connection."""

    def read() -> bytes:
        got = b""
        try:
            while piece := connection.recv(4096):
                got += piece
        except ConnectionResetError:
            pass
        return got

    return await asyncio.to_thread(read)


async def test_2000_half_open_connections_leave_room_for_a_client_with_the_token(tmp_path: Path):
    """X9: half send nothing and half begin a request. The server keeps a limited number and answers the client."""
    with _files_for_the_attacker(), ExitStack() as opened:
        async with serving(tmp_path) as board:
            board.server.bounds.limits = ConnectionLimits(128, 256)
            for number in range(FLOOD):
                flood = opened.enter_context(socket.socket())
                flood.setblocking(False)
                await asyncio.get_running_loop().sock_connect(flood, ("127.0.0.1", board.server.port))
                if number % 2:
                    flood.send(HEAD.format(port=board.server.port).encode())
                if number % 100 == 0:
                    assert (await board.http.get(f"{API}/meta")).status_code == 200
            async with httpx2.AsyncClient(base_url=board.server.url, timeout=SOON) as fresh:
                answer = await fresh.get(f"{API}/meta", headers={"Authorization": f"Bearer {TOKEN}"})
            assert answer.status_code == 200
            assert board.server.bounds.unknown <= 128
            assert len(board.server.list_connections()) <= 128 + 256


async def test_every_request_head_has_a_time_limit(tmp_path: Path):
    """X9: also for a client that sends its head byte by byte."""
    async with serving(tmp_path) as board:
        board.server.bounds.head_s = 0.2
        silent, begun = _open(board), _open(board, HEAD)
        later = _open(board, HEAD + "\r\n")
        assert (await asyncio.to_thread(later.recv, 4096)).startswith(b"HTTP/1.1 200")
        later.sendall(HEAD.format(port=board.server.port).encode())
        assert await asyncio.gather(_ended(silent), _ended(begun)) == [b"", b""]
        assert b"HTTP/1.1" not in await _ended(later)


async def test_a_new_connection_replaces_the_oldest_waiting_one(small: Board):
    """X9"""
    flood = [_open(small) for _ in range(5)]
    assert await _ended(flood[0]) == b""
    assert small.server.bounds.unknown == 4
    for connection in flood:
        connection.close()


async def test_a_trusted_connection_is_never_closed_for_an_untrusted_one(small: Board):
    """X9: it stays open also between requests."""
    assert (await small.http.get(f"{API}/meta")).status_code == 200
    assert small.server.bounds.trusted == 1
    (trusted,) = small.server.list_connections()
    flood = [_open(small) for _ in range(20)]
    assert await _ended(flood[0]) == b""
    assert not trusted.is_closing()
    for connection in flood:
        connection.close()


async def test_beyond_the_limit_the_longest_waiting_connection_closes(small: Board):
    """X9"""
    head = HEAD.replace("/healthz", f"{API}/meta") + f"Authorization: Bearer {TOKEN}\r\n\r\n"
    first, *others = (_open(small, head) for _ in range(3))
    assert (await _ended(first)).startswith(b"HTTP/1.1 200")
    assert small.server.bounds.trusted == 2
    for connection in others:
        connection.close()


async def test_a_refused_client_delays_nothing(board: Board):
    """X9: without a token, the server does not wait for an announced body."""
    head = HEAD.replace("GET /healthz", f"POST {API}/commands/submit_turn") + "Content-Length: 1000000\r\n\r\n"
    assert (await _ended(_open(board, head))).startswith(b"HTTP/1.1 401")


@pytest.mark.parametrize(
    ("soft", "limits"),
    [(256, (32, 64)), (1024, (128, 256)), (1 << 20, (256, 512)), (resource.RLIM_INFINITY, (256, 512))],
)
def test_the_limits_fit_the_limit_of_open_files(monkeypatch: pytest.MonkeyPatch, soft: int, limits: tuple[int, int]):
    """X9"""
    monkeypatch.setattr(resource, "getrlimit", lambda _: (soft, resource.RLIM_INFINITY))
    assert connections.compute_limits() == limits


@pytest.mark.parametrize(
    "sends", ["no request\r\n\r\n", "GET /" + "a" * 70_000 + " HTTP/1.1\r\n\r\n"], ids=["text", "long"]
)
async def test_an_invalid_request_line_is_answered_with_a_problem(small: Board, sends: str):
    head, _, body = (await _ended(_open(small, sends.replace("{", "")))).partition(b"\r\n\r\n")

    assert head.startswith(b"HTTP/1.1 400 ")
    assert b"content-type: application/json" in head
    assert msgspec.json.decode(body, type=Problem).code == "invalid_input"
