"""Queries that wait end when their client disconnects."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from callboard.contracts.commands.base import Command
from callboard.contracts.scope import Actor
from tests.adapters.http.rigs.server import API, SOON, serving


class Waiting:
    """Command service that never answers."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.given_up = asyncio.Event()

    async def submit(self, command: Command, *, key: str = "", actor: Actor) -> Any:
        self.begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.given_up.set()


async def test_a_wait_ends_when_its_client_disconnects(tmp_path: Path):
    """No task of the query remains."""
    waiting = Waiting()
    async with serving(tmp_path, commands=waiting) as board:
        asking = asyncio.create_task(board.http.get(f"{API}/queries/wait_subagents", params={"sessionId": "ses_a"}))
        async with asyncio.timeout(SOON):
            await waiting.begun.wait()
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
            await waiting.given_up.wait()
