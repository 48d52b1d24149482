"""A process in which sessions wait for a person: `python -m bench.sleepers FOLDER`.

`{"wait": n}` makes so many more; `{"let_go": 1}` has the runtime forget all that it may, as it does by itself with
sessions that nobody uses; both answer with the resident bytes. `{"wake": k}` answers k pending approvals, one after the
other, and says how many milliseconds each took until the tool was started, durably.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import random
import sys
import time
from itertools import count
from pathlib import Path
from typing import Any

from bench.board import ENDS, WRITES, Board
from callboard.contracts.commands import RespondAction, TurnAccepted

AT_ONCE = 32
STARTED = ("tool.started",)
#: Nothing is let go before it is told to, in seconds.
NEVER = 1e9
_NAMES = count(1)


async def work(folder: Path) -> None:
    """Does what it is told until there is no more."""
    board = Board(folder, idle=NEVER)
    await board.open()
    await _wait(board, AT_ONCE)
    waiting: list[tuple[str, str]] = []
    _say(_resident())
    while line := await asyncio.to_thread(sys.stdin.readline):
        order: dict[str, int] = json.loads(line)
        if "wait" in order:
            waiting += await _wait(board, order["wait"])
            _say(_resident())
        elif "let_go" in order:
            for session in board.runtime.sessions.in_use():
                await board.runtime.sessions.let_go(session)
            _say(_resident())
        else:
            random.Random(1).shuffle(waiting)
            woken, waiting = waiting[: order["wake"]], waiting[order["wake"] :]
            _say([await _wake(board, *one) for one in woken])
    await board.close()


async def _wait(board: Board, sessions: int) -> list[tuple[str, str]]:
    """Makes sessions that wait for a person; the ids of sessions and actions."""
    gate = asyncio.Semaphore(AT_ONCE)

    async def one() -> tuple[str, str]:
        async with gate:
            # A file of its own: an approval does not hold once the file is another.
            accepted = await board.submit(None, f"{WRITES}{next(_NAMES)}.txt")
            facts = board.parts.store.facts.subscribe(accepted.session_id)
            async for records in facts:
                for record in records:
                    if record.header.type == "action.required":
                        await facts.aclose()
                        return accepted.session_id, record.scope.action
            raise RuntimeError("the store was closed")

    return list(await asyncio.gather(*(one() for _ in range(sessions))))


async def _wake(board: Board, session: str, action: str) -> float:
    began = time.perf_counter()
    answered = await board.do(RespondAction(session_id=session, action_id=action, decision="approve"))
    told = TurnAccepted(
        session_id=session, thread_id="", turn_id="", status="started", sequence=max(1, answered.sequence - 8)
    )
    if await board.until(told, STARTED + ENDS) not in STARTED:
        raise RuntimeError(f"the approval of {action} started nothing")
    took = (time.perf_counter() - began) * 1000
    await board.until(told)
    return took


def _resident() -> int:
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _say(what: Any) -> None:
    print(json.dumps(what), flush=True)


if __name__ == "__main__":
    asyncio.run(work(Path(sys.argv[1])))
