"""Lanes of one round of the crash proof, each in its own session.

As a process, it reads its orders as one JSON object from stdin.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Coroutine
from typing import Any

from tests.prove.crash.client import Client

#: Seconds without news after which a round is given up.
QUIET_S = 30.0


def all_of(c: Client) -> list[Coroutine[Any, Any, Any]]:
    """Return every lane of a round, and what earlier rounds left."""
    orders = c.orders
    lanes = [
        lane(c) for lane in (approves, interrupts, approves_twice, leaves_open, rejects, repeats, follows, lets_do)
    ]
    lanes += [answers_late(c, session, action, at) for at, (session, action) in enumerate(orders["waiting"])]
    lanes += [resumes(c, session) for session in orders["paused"]]
    return [*lanes, *(c.give(command["command"], command["key"], **command["body"]) for command in orders["again"])]


async def approves(c: Client) -> None:
    """Approve, queue a turn behind the running one, and change the order of the queue."""
    session = await begins(c, "A", "job")
    await c.answer(session, 0, "approve")
    await c.submit("A", 1, "talk", session)
    turn = (await c.submit("A", 2, "job", session))["turnId"]
    await c.give("promote_queued_turn", f"promote-{turn}", sessionId=session, turnId=turn)
    await c.answer(session, 1, "approve")


async def interrupts(c: Client) -> None:
    """Interrupt a streaming answer, so that the next queued turn runs."""
    session = await begins(c, "B", "book")
    await c.submit("B", 1, "talk", session)
    await c.until(lambda: c.longest_text(session) > 4000)
    await c.give("interrupt_turn", f"interrupt-{session}", sessionId=session)
    await c.ended(session, 2)


async def approves_twice(c: Client) -> None:
    """Approve a file and then a command of one turn."""
    session = await begins(c, "C", "two")
    await c.answer(session, 0, "approve")
    await c.answer(session, 1, "approve")
    await c.ended(session, 1)


async def leaves_open(c: Client) -> None:
    """Leave an approval open, with a queue behind it."""
    session = await begins(c, "D", "job")
    await c.submit("D", 1, "talk", session)
    await c.submit("D", 2, "talk", session)


async def rejects(c: Client) -> None:
    session = await begins(c, "E", "job")
    await c.answer(session, 0, "reject")
    await c.ended(session, 1)


async def repeats(c: Client) -> None:
    """Send every command twice at once."""
    session = ""
    for turn in range(3):
        both = await asyncio.gather(c.submit("F", turn, "talk", session), c.submit("F", turn, "talk", session))
        session = both[0]["sessionId"]
        await c.ended(session, turn + 1)


async def follows(c: Client) -> None:
    """Follow a long answer."""
    await c.ended(await begins(c, "G", "book"), 1)


async def lets_do(c: Client) -> None:
    """Let an agent work without requests."""
    session = await begins(c, "H", "job", permissionMode="full")
    await c.submit("H", 1, "job", session, permissionMode="full")
    await c.ended(session, 2)


async def answers_late(c: Client, session: str, action: str, at: int) -> None:
    """Answer a request of an earlier server."""
    await c.respond(session, action, ("approve", "reject")[(at + c.orders["round"]) % 2])


async def resumes(c: Client, session: str) -> None:
    """Resume a thread that a killed server left with a queue."""
    await c.give("resume_thread", f"resume-{session}-{c.orders['round']}", sessionId=session)


async def begins(c: Client, lane: str, text: str, **more: str) -> str:
    """Submit the first turn of a lane. Return its session."""
    return (await c.submit(lane, 0, text, **more))["sessionId"]


async def main() -> None:
    client = Client(json.loads(sys.stdin.readline()))
    working = asyncio.create_task(client.work(all_of(client)))
    length = -1
    while not (await asyncio.wait([working], timeout=QUIET_S))[0]:
        if length == client.shown_so_far:
            client.give_up()
        length = client.shown_so_far
    working.result()


if __name__ == "__main__":
    asyncio.run(main())
