"""Process that opens a long session and runs turns in it: `python -m bench.workers.long_session FOLDER BASE_URL FACTS`.

`{"open": 1}` closes and reopens the session, `{"fold": 1}` does so after deleting its rows, `{"turn": 1}` runs a turn with one
model call. All answer with the longest blocks of the event loop, in milliseconds.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
from collections.abc import Awaitable
from pathlib import Path

import uvloop

from bench.machine import settle
from bench.rigs.board import Board, OneModel
from bench.rigs.heartbeat import Heartbeat
from bench.rigs.history import history
from bench.rigs.stored_sessions import write
from callboard.app.hosting.process import share_time
from callboard.models.wire import Endpoint, WireModel

SESSION = "ses_benchlong"


async def work(folder: Path, base_url: str, facts: int) -> None:
    """Execute orders until the input ends."""
    turn_history = await history(folder / "turn")
    model = WireModel(Endpoint(provider="bench", base_url=base_url, api_key="none", window=10_000_000), "m")
    # Before the measured runtime starts: its recovery reads every stream, and a fact added then conflicts.
    empty = Board(folder)
    await empty.open()
    await empty.close()
    await write(folder / "state", empty.workspace, turn_history, {SESSION: facts})
    board = Board(folder, models=OneModel(model))
    await board.open()
    await model.warm()
    share_time()
    settle()
    sessions = board.runtime.sessions
    print(json.dumps("ready"), flush=True)
    while line := await asyncio.to_thread(sys.stdin.readline):
        order: dict[str, int] = json.loads(line)
        if "turn" not in order:
            await sessions.release(SESSION)
            if "fold" in order:
                await board.parts.store.rows.clear(SESSION)
        gc.collect()
        operation = _turn(board) if "turn" in order else sessions.get(SESSION)
        print(json.dumps(await _measure_block(operation)), flush=True)
    await board.close()
    await model.close()


async def _turn(board: Board) -> None:
    ended = await board.until(await board.submit(SESSION))
    if ended != "turn.completed":
        raise RuntimeError(f"the turn ended with {ended}")


async def _measure_block(operation: Awaitable[object]) -> dict[str, float]:
    with Heartbeat() as heart:
        await operation
    return {"wall": heart.wall, "worked": heart.worked}


if __name__ == "__main__":
    uvloop.run(work(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
