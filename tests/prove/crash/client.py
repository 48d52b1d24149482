"""The client of the crash proof: a process that submits, answers, records every acknowledgement,
and kills.

It gets `Orders`, works on several sessions at once (`lanes`), kills the server at the ordered
moment, and ends. Its journal has a line for each command before it is sent and for each answer. A
line is on disk before the next step. The last line has all facts and texts that the client
received.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from pathlib import Path
from typing import Any, TypedDict

from tests.prove.crash import workload
from tests.prove.driver.kills import kill_after, kill_while_writing
from tests.prove.driver.view import View
from tests.prove.driver.wire import Gone, Wire

#: Longest wait for the event that the kill should hit, in seconds.
PATIENCE_S = 1.0


class Kill(TypedDict):
    """The moment of the kill.

    `how` is fact, write, piece or end; `fact` counts the facts that the client received in all
    sessions.
    """

    how: str
    fact: int
    microseconds: int
    writes: int


class Orders(TypedDict):
    """The client's orders.

    `waiting` are [session, action] and `paused` sessions from earlier rounds, `again` commands
    without an answer.
    """

    url: str
    token: str
    pid: int
    workspace: str
    round: int
    journal: str
    wal: str
    kill: Kill
    waiting: list[list[str]]
    paused: list[str]
    again: list[dict[str, Any]]


class Killer:
    """Kills the server once, as ordered.

    `struck` is set at the moment, `at` is the time of the signal.
    """

    def __init__(self, orders: Orders) -> None:
        self._orders = orders
        self._armed = False
        self.struck = False
        self.within = False
        self.at = 0.0

    def strike(self) -> None:
        """Kill at the ordered fact."""
        self.struck = True
        match self._orders["kill"]["how"]:
            case "piece":
                self._armed = True
                asyncio.get_running_loop().call_later(PATIENCE_S, self.piece)
            case "write":
                threading.Thread(target=self._while_writing, daemon=True).start()
            case _:
                self._now()

    def piece(self) -> None:
        """Kill at a piece of text."""
        if self._armed:
            self._armed = False
            self._now()

    def _now(self) -> None:
        self.at = time.monotonic()
        with contextlib.suppress(ProcessLookupError):
            kill_after(self._orders["pid"], self._orders["kill"]["microseconds"])

    def _while_writing(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            file, writes = Path(self._orders["wal"]), self._orders["kill"]["writes"]
            self.within = kill_while_writing(self._orders["pid"], file, writes, PATIENCE_S)
        self.at = time.monotonic()


class Client:
    """State that the lanes share: recorded commands and the sessions as received."""

    def __init__(self, orders: Orders) -> None:
        self.orders = orders
        self.wire = Wire(orders["url"], orders["token"])
        self.received: list[list[Any]] = []
        self.views: dict[str, View] = {}
        self.killer = Killer(orders)
        self.problems: list[str] = []
        self._journal = os.open(orders["journal"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self._gone = False
        self._news = asyncio.Event()
        self._following: list[asyncio.Task[None]] = []

    async def work(self, lanes: Iterable[Coroutine[Any, Any, Any]]) -> None:
        """Run all lanes at once until the server is gone or all are done.

        Then kill the server if no lane did.
        """
        outcomes = await asyncio.gather(*lanes, return_exceptions=True)
        if not self.killer.struck:
            self.killer.strike()
        await asyncio.gather(*self._following, return_exceptions=True)
        grown = {key: times for view in self.views.values() for key, times in view.grown.items()}
        problems = self.problems + [problem for view in self.views.values() for problem in view.problems]
        problems += [
            repr(outcome) for outcome in outcomes if isinstance(outcome, Exception) and not isinstance(outcome, Gone)
        ]
        self._note(
            kind="end",
            received=self.received,
            grown=grown,
            killed=self.killer.at,
            within=self.killer.within,
            problems=problems,
        )

    async def submit(self, lane: str, turn: int, text: str, session: str = "", **more: str) -> dict[str, Any]:
        """Submit the turn of a lane, in a new session by default, and follow the session."""
        name = workload.token(self.orders["round"], lane, turn)
        where = {"sessionId": session} if session else {"workspaceId": self.orders["workspace"]}
        answer = await self.give("submit_turn", f"turn-{name}", text=f"{text} {name}", **where, **more)
        if answer["sessionId"] not in self.views:
            self._follow(answer["sessionId"])
        return answer

    async def answer(self, session: str, nth: int, decision: str) -> None:
        """Answer the session's nth request after it arrived."""
        requests = lambda: [fact for fact in self.received if fact[0] == session and fact[2] == "action.required"]
        await self.until(lambda: len(requests()) > nth)
        await self.respond(session, requests()[nth][4], decision)

    async def respond(self, session: str, action: str, decision: str) -> None:
        key = f"answer-{action}-{self.orders['round']}"
        await self.give("respond_action", key, sessionId=session, actionId=action, decision=decision)

    async def ended(self, session: str, turns: int) -> None:
        """Wait until this many turns of the session ended."""
        ends = ("turn.completed", "turn.failed", "turn.interrupted")
        await self.until(lambda: sum(fact[0] == session and fact[2] in ends for fact in self.received) >= turns)

    async def give(self, command: str, key: str, **body: Any) -> dict[str, Any]:
        """Send a command. Record it and its answer.

        Raises:
            Gone: The server went away.
        """
        self._note(kind="sent", command=command, key=key, body=body)
        answer = await self.wire.post(command, body, key)
        self._note(kind="answer", command=command, key=key, body=body, status=answer.status, answer=answer.body)
        return answer.body

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until something arrived.

        Raises:
            Gone: The server went away.
        """
        while not condition():
            if self._gone:
                raise Gone("the server was killed")
            news = self._news
            await news.wait()

    def longest_text(self, session: str) -> int:
        """Return the length of the session's longest streamed text."""
        grown = self.views[session].grown.values() if session in self.views else ()
        return max((times[-1][1] for times in grown), default=0)

    @property
    def shown_so_far(self) -> int:
        """Return the number of received facts and pieces of text."""
        return len(self.received) + sum(view.appends for view in self.views.values())

    def give_up(self) -> None:
        """End a round in which nothing happens any more."""
        last = {session: [fact[2] for fact in self.received if fact[0] == session][-2:] for session in self.views}
        self.problems.append(f"nothing was shown any more; the last facts: {last}")
        self.killer.strike()

    def _follow(self, session: str) -> None:
        view = self.views[session] = View()

        async def facts() -> None:
            async for event in self.wire.events(f"/sessions/{session}/facts"):
                data = event.data
                if "sequence" not in data:
                    self.problems.append(f"a stream of facts sent {event.name}: {data}")
                    return
                self.received.append(
                    [session, data["sequence"], data["type"], data.get("payload"), data.get("actionId", "")]
                )
                self._wake()
                if len(self.received) == self.orders["kill"]["fact"]:
                    self.killer.strike()

        async def operations() -> None:
            async for event in self.wire.events(f"/sessions/{session}/ops"):
                before = view.appends
                view.apply(event)
                self._wake()
                if view.appends > before:
                    self.killer.piece()

        self._following += [asyncio.create_task(self._until_gone(stream)) for stream in (facts, operations)]

    async def _until_gone(self, follow: Callable[[], Awaitable[None]]) -> None:
        with contextlib.suppress(Gone):
            await follow()
        self._gone = True
        self._wake()

    def _wake(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()

    def _note(self, **line: Any) -> None:
        os.write(self._journal, json.dumps(line).encode() + b"\n")
        os.fdatasync(self._journal)
