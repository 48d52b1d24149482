"""Streams: heartbeats, end without a reader, and reasons of an end."""

from __future__ import annotations

import asyncio
import errno
import json
from collections.abc import AsyncGenerator
from pathlib import Path

import httpx2
import pytest

from callboard.contracts.errors import Code, Refusal
from callboard.contracts.live import Cursor
from callboard.contracts.record import Record
from tests.adapters.http.rigs.server import API, SOON, Board, serving
from tests.adapters.http.rigs.stream_client import open_stream


class Feeds:
    """Feeds under the control of a test: one event, then what the test provides."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.ended = asyncio.Event()
        self.error: Exception | None = None
        self.go_on = asyncio.Event()

    async def follow_ops(self, stream: str, *, after: Cursor | None) -> AsyncGenerator[bytes]:
        try:
            yield b"id: 1.0\nevent: ops\ndata: {}\n\n"
            self.begun.set()
            await self.go_on.wait()
            if self.error is not None:
                raise self.error
        finally:
            self.ended.set()

    async def follow_facts(self, stream: str, *, after: int) -> AsyncGenerator[tuple[Record, ...]]:
        async for _ in self.follow_ops(stream, after=None):
            yield ()


async def a_stream(board: Board) -> str:
    """Return the path of a stream of row operations."""
    return f"workspaces/{await board.workspace()}/ops"


async def test_a_silent_stream_sends_heartbeats(tmp_path: Path):
    feeds = Feeds()
    async with serving(tmp_path, feeds=feeds, keep_alive=0.05) as board:
        path = f"{API}/{await a_stream(board)}"
        received = b""
        async with board.http.stream("GET", path) as answer, asyncio.timeout(SOON):
            async for piece in answer.aiter_raw():
                received += piece
                if (signs := received.count(b":\n\n")) >= 3:
                    break

    assert received == b"id: 1.0\nevent: ops\ndata: {}\n\n" + b":\n\n" * signs


async def test_a_client_that_disconnects_ends_its_feed_at_once(tmp_path: Path):
    feeds = Feeds()
    async with serving(tmp_path, feeds=feeds) as board, asyncio.timeout(SOON):
        async with open_stream(board.http, await a_stream(board)):
            await feeds.begun.wait()
            assert not feeds.ended.is_set()

        await feeds.ended.wait()


async def test_a_feed_that_ends_ends_the_stream(tmp_path: Path):
    feeds = Feeds()
    feeds.go_on.set()
    async with (
        serving(tmp_path, feeds=feeds) as board,
        asyncio.timeout(SOON),
        open_stream(board.http, await a_stream(board)) as follower,
    ):
        assert (await follower.event()).event == "ops"
        assert await follower.ended()


async def last_event(tmp_path: Path, error: Exception) -> httpx2.ServerSentEvent:
    """Return the last event of a stream that fails with this error."""
    feeds = Feeds()
    feeds.error = error
    feeds.go_on.set()
    async with (
        serving(tmp_path, feeds=feeds) as board,
        asyncio.timeout(SOON),
        open_stream(board.http, await a_stream(board)) as follower,
    ):
        await follower.event()
        last = await follower.event()
        assert await follower.ended()
    return last


@pytest.mark.parametrize(("code", "event"), [("gap", "gap"), ("unknown_session", "problem")])
async def test_a_refusal_during_a_stream_is_the_last_event(tmp_path: Path, code: Code, event: str):
    last = await last_event(tmp_path, Refusal(code, "It is gone.", hint="Ask again."))

    assert (last.event, json.loads(last.data)) == (
        event,
        {"code": code, "message": "It is gone.", "hint": "Ask again."},
    )


async def test_a_defect_during_a_stream_is_reported_as_an_incident(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    """SAFE-05"""
    last = await last_event(tmp_path, ZeroDivisionError("the secret"))

    problem = json.loads(last.data)
    assert (last.event, problem["code"]) == ("problem", "internal")
    assert "secret" not in last.data
    assert any("inc_" in record.getMessage() and record.exc_info for record in caplog.records)


@pytest.mark.parametrize(
    ("error", "problem"),
    [
        (
            OSError(errno.EIO, "Input/output error", "/state/uploads"),
            {
                "code": "store_unusable",
                "message": "/state/uploads cannot be used: input/output error.",
                "hint": "Check the disk (`dmesg`), then restart Callboard. Acknowledged commands are stored.",
            },
        ),
        (
            OSError(errno.ENOSPC, "No space left on device", "/state/uploads"),
            {
                "code": "store_full",
                "message": "There is no space left to write /state/uploads.",
                "hint": "Free some disk space, then repeat the command. Stored facts are intact.",
            },
        ),
    ],
)
async def test_r6_a_failed_disk_is_reported_as_no_defect(tmp_path: Path, error: OSError, problem: dict[str, str]):
    """R6: the advice fits the failure, for reads and writes."""
    last = await last_event(tmp_path, error)

    assert (last.event, json.loads(last.data)) == ("problem", problem)


async def test_a_head_request_opens_no_stream(tmp_path: Path):
    feeds = Feeds()
    async with serving(tmp_path, feeds=feeds) as board:
        answer = await board.http.head(f"{API}/{await a_stream(board)}")

    assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert not feeds.begun.is_set()
