"""Requests that every proof sends to a server."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from tests.prove.driver.product import Server
from tests.prove.driver.view import View


async def do(server: Server, command: str, key: str = "", **body: Any) -> dict[str, Any]:
    """Send a command that must be accepted. Return its answer."""
    answer = await server.wire.post(command, body, key)
    assert answer.status == 200, answer
    return answer.body


async def submit(server: Server, text: str, session: str = "", **more: str) -> str:
    """Submit a turn, in a new session by default. Return the session."""
    where = {"sessionId": session} if session else {"workspaceId": server.workspace}
    return (await do(server, "submit_turn", text=text, **where, **more))["sessionId"]


async def over(server: Server, session: str, longest: float = 60) -> None:
    """Wait until the thread is idle."""
    until = time.monotonic() + longest
    while True:
        read = (await server.wire.get(f"/queries/get_thread_read?sessionId={session}")).body
        if read["status"]["status"] in ("done", "failed", "idle") and not read["queue"]:
            return
        if time.monotonic() > until:
            raise AssertionError(f"{session} has not come to rest within {longest:.0f} s: {read}")
        await asyncio.sleep(0.05)


async def until(condition: Callable[[], bool], longest: float = 30, every: float = 0.005) -> bool:
    """Wait until the condition is true, at most this many seconds. Return whether it is."""
    end = time.monotonic() + longest
    while not condition():
        if time.monotonic() > end:
            return False
        await asyncio.sleep(every)
    return True


async def snapshot(server: Server, session: str) -> View:
    """Return the first event of a client without a position."""
    view = View()
    async for event in server.wire.events(f"/sessions/{session}/ops"):
        view.apply(event)
        break
    return view
