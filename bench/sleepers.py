"""A process in which sessions wait for a person: `python -m bench.sleepers FOLDER`.

`{"wait": n}` makes so many more; `{"let_go": 1}` has the runtime forget all that it may, as it does by itself with
sessions that nobody uses; both answer with the resident bytes. `{"wake": k}` answers k pending approvals, one after the
other, picked at random or with `"newest": 1` the newest, and says how many milliseconds each took until the tool was started,
durably.
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

from bench.board import ENDS, WRITES, Board
from bench.machine import resident
from callboard.contracts.commands.action import RespondAction
from callboard.contracts.commands.turn import TurnAccepted

AT_ONCE = 32
STARTED = ("tool.started",)
#: Nothing is let go before it is told to, in seconds.
NEVER = 1e9
_NAMES = count(1)


async def work(folder: Path) -> None:
    """Does what it is told until there is no more."""
    board = Board(folder, idle=NEVER)
    await board.open()
    # On the disk: what the bench itself remembered of a session would be counted as the session's.
    waiting = folder / "waiting.txt"
    await _wait(board, AT_ONCE, waiting)
    waiting.write_text("")
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
    """Makes sessions that wait for a person, and adds the ids of each and of its action to the file."""
    names = islice(_NAMES, sessions)
    with waiting.open("a") as told:

        async def one_after_the_other() -> None:
            for name in names:
                # A file of its own: an approval does not hold once the file is another.
                accepted = await board.submit(None, f"{WRITES}{name}.txt")
                told.write(f"{accepted.session_id} {await _asked(board, accepted.session_id)}\n")

        await asyncio.gather(*(one_after_the_other() for _ in range(AT_ONCE)))


async def _asked(board: Board, session: str) -> str:
    """Waits until the session asks; the id of the action."""
    async with aclosing(board.parts.store.facts.subscribe(session)) as facts:
        async for records in facts:
            for record in records:
                if record.header.type == "action.required":
                    return record.scope.action
    raise RuntimeError("the store was closed")


def _some(waiting: Path, count: int, *, newest: bool) -> list[tuple[str, str]]:
    """Takes so many out of the file: the newest, or some at random."""
    lines = waiting.read_text().splitlines()
    if not newest:
        random.Random(1).shuffle(lines)
    waiting.write_text("".join(f"{line}\n" for line in lines[:-count]))
    return [(session, action) for session, action in map(str.split, lines[-count:])]


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


def _say(what: Any) -> None:
    print(json.dumps(what), flush=True)


if __name__ == "__main__":
    asyncio.run(work(Path(sys.argv[1])))
