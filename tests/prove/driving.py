"""What every proof asks of a server."""

from __future__ import annotations

import asyncio

from .product import Server
from .view import View


async def submit(server: Server, text: str, session: str = "", **more: str) -> str:
    """Submits a turn, in a new session where none is named; returns the session."""
    where = {"sessionId": session} if session else {"workspaceId": server.workspace}
    answer = await server.wire.post("submit_turn", {"text": text, **where, **more})
    assert answer.status == 200, answer
    return answer.body["sessionId"]


async def over(server: Server, session: str, longest: float = 120) -> None:
    """Waits until the thread has nothing to do."""
    async with asyncio.timeout(longest):
        while True:
            answer = await server.wire.get(f"/queries/get_thread_read?sessionId={session}")
            read = answer.body
            if read["status"]["status"] in ("done", "failed", "idle") and not read["queue"]:
                return
            await asyncio.sleep(0.05)


async def snapshot(server: Server, session: str) -> View:
    """What a client without a place is sent first."""
    view = View()
    async for event in server.wire.events(f"/sessions/{session}/ops"):
        view.apply(event)
        break
    return view
