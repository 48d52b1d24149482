"""Process in which sessions wait for a person: `python -m bench.workers.waiting_sessions FOLDER`.

`{"wait": n}` creates n more. `{"let_go": 1}` makes the runtime close idle sessions, as it does automatically. Both answer with
the resident bytes. `{"wake": k}` answers k pending approvals in sequence, random ones or with `"newest": 1` the newest, and
returns the milliseconds until each tool start is durable.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import time
from contextlib import aclosing
from itertools import count, islice
from pathlib import Path
from typing import Any

import uvloop

from bench.machine import resident, settle
from bench.rigs.board import ENDS, WRITES, Board
from callboard.contracts.commands.action import RespondAction
from callboard.contracts.commands.turn import TurnAccepted

AT_ONCE = 32
STARTED = ("tool.started",)
#: Seconds before the runtime closes a session: never during the bench.
NEVER = 1e9
_NAMES = count(1)


async def work(folder: Path) -> None:
    """Execute orders until the input ends."""
    board = Board(folder, idle=NEVER)
    await board.open()
    # On disk: the bench's own memory of a session would be counted as the session's.
    waiting = folder / "waiting.txt"
    await _wait(board, AT_ONCE, waiting)
    waiting.write_text("")
    settle()
    _say(resident())
    while line := await asyncio.to_thread(sys.stdin.readline):
        order: dict[str, int] = json.loads(line)
        if "wait" in order:
            await _wait(board, order["wait"], waiting)
            _say(resident())
        elif "let_go" in order:
            for session in board.runtime.sessions.open_sessions():
                await board.runtime.sessions.release(session)
            _say(resident())
        else:
            _say(
                [await _wake(board, *approval) for approval in _some(waiting, order["wake"], newest="newest" in order)]
            )
    await board.close()


async def _wait(board: Board, sessions: int, waiting: Path) -> None:
    """Create sessions that wait for a person; append their ids and those of their actions to the file."""
    names = islice(_NAMES, sessions)
    with waiting.open("a") as file:

        async def one_after_the_other() -> None:
            for name in names:
                # A separate file each: an approval is void once its file changes.
                accepted = await board.submit(None, f"{WRITES}{name}.txt")
                file.write(f"{accepted.session_id} {await _wait_for_action(board, accepted.session_id)}\n")

        await asyncio.gather(*(one_after_the_other() for _ in range(AT_ONCE)))


async def _wait_for_action(board: Board, session: str) -> str:
    """Wait until the session asks; return the id of the action."""
    async with aclosing(board.parts.store.facts.subscribe(session)) as facts:
        async for records in facts:
            for record in records:
                if record.header.type == "action.required":
                    return record.scope.action
    raise RuntimeError("the store was closed")


def _some(waiting: Path, count: int, *, newest: bool) -> list[tuple[str, str]]:
    """Remove `count` entries from the file, the newest or random ones, and return them."""
    lines = waiting.read_text().splitlines()
    if not newest:
        random.Random(1).shuffle(lines)
    waiting.write_text("".join(f"{line}\n" for line in lines[:-count]))
    return [(session, action) for session, action in map(str.split, lines[-count:])]


async def _wake(board: Board, session: str, action: str) -> float:
    began = time.perf_counter()
    answered = await board.do(RespondAction(session_id=session, action_id=action, decision="approve"))
    accepted = TurnAccepted(
        session_id=session, thread_id="", turn_id="", status="started", sequence=max(1, answered.sequence - 8)
    )
    if await board.until(accepted, STARTED + ENDS) not in STARTED:
        raise RuntimeError(f"the approval of {action} started nothing")
    took = (time.perf_counter() - began) * 1000
    await board.until(accepted)
    return took


def _say(value: Any) -> None:
    print(json.dumps(value), flush=True)


if __name__ == "__main__":
    uvloop.run(work(Path(sys.argv[1])))
