"""Process with open sessions that clients follow: `python -m bench.workers.open_sessions FOLDER`.

`{"make": n}` writes n sessions of one turn each to the log. `{"open": n}` opens n of them, each with a client that has its
snapshot, and runs the periodic check of sessions. `{"let_go": 1}` ends the clients and closes all sessions. All answer with
the resident bytes.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncGenerator
from itertools import count
from pathlib import Path

import uvloop

from bench.machine import resident
from bench.rigs.board import Board
from bench.rigs.history import History, history

_NUMBERS = count()
#: Seconds before the runtime closes a session: never during the bench.
NEVER = 1e9
#: Sessions opened before each periodic check, which the runtime makes every 15 s.
STEP = 100


async def work(folder: Path) -> None:
    """Execute orders until the input ends."""
    turn_history = await history(folder / "turn")
    board = Board(folder, idle=NEVER, idle_waiting=NEVER, replay=0.0)
    await board.open()
    closed: list[str] = []
    clients: list[asyncio.Task[None]] = []
    print(json.dumps(resident()), flush=True)
    while line := await asyncio.to_thread(sys.stdin.readline):
        order: dict[str, int] = json.loads(line)
        if "make" in order:
            closed += await _make(board, turn_history, order["make"])
        elif "open" in order:
            for _ in range(order["open"]):
                opened = asyncio.get_running_loop().create_future()
                follower = _follow(board.runtime.feeds.follow_ops(closed.pop(), after=None), opened)
                clients.append(asyncio.create_task(follower))
                await opened
                if len(clients) % STEP == 0:
                    await board.runtime.sessions.sweep()
            await board.runtime.sessions.sweep()
        else:
            await _end(clients)
            for session in board.runtime.sessions.open_sessions():
                await board.runtime.sessions.release(session)
        print(json.dumps(resident()), flush=True)
    await _end(clients)
    await board.close()


async def _make(board: Board, turn_history: History, sessions: int) -> list[str]:
    store = board.parts.store
    names = [f"ses_held{next(_NUMBERS)}" for _ in range(sessions)]

    async def make(session: str) -> None:
        first = turn_history.first(session, store.epoch, board.workspace)
        await store.facts.append(first)
        for batch in turn_history.turns(session, store.epoch, len(first.facts), 1):
            await store.facts.append(batch)

    await asyncio.gather(*map(make, names))
    return names


async def _follow(chunks: AsyncGenerator[bytes], opened: asyncio.Future[None]) -> None:
    async for chunk in chunks:
        if not opened.done():
            opened.set_result(None)
        del chunk


async def _end(clients: list[asyncio.Task[None]]) -> None:
    for client in clients:
        client.cancel()
    await asyncio.gather(*clients, return_exceptions=True)
    clients.clear()


if __name__ == "__main__":
    uvloop.run(work(Path(sys.argv[1])))
