"""The client of the inbox proof, in its own process: sends handoffs one by one and kills the
server.

Its orders are one line of JSON. Its commands and their answers go to a journal that is synced line
by line.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import threading
from pathlib import Path
from typing import Any, TypedDict

from tests.prove.driver.kills import kill_after, kill_while_writing
from tests.prove.driver.wire import Gone, Wire


class Moment(TypedDict):
    """The moment of the kill: at the nth new fact of the type, after this many microseconds or
    writes of the log.

    Without a type it waits until all is done. Without `how` nothing is killed.
    """

    how: str
    type: str
    nth: int
    microseconds: int
    writes: int


class Orders(TypedDict):
    """The client's orders.

    `sends` are commands with their keys in order, `head` the newest known fact, `due` the final
    number of completed handoffs, awaited for `patience` seconds.
    """

    url: str
    token: str
    pid: int
    session: str
    wal: str
    journal: str
    head: int
    due: int
    patience: float
    sends: list[dict[str, Any]]
    moment: Moment


class Client:
    """One round."""

    def __init__(self, orders: Orders) -> None:
        self._orders = orders
        self._wire = Wire(orders["url"], orders["token"])
        self._journal = os.open(orders["journal"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self._struck = False
        self._hits = 0
        self._completed = 0
        self._over = asyncio.Event()
        self._threads: list[threading.Thread] = []

    async def work(self) -> None:
        """Send all commands until the server is gone or all is done."""
        following = asyncio.create_task(self._follow())
        try:
            for command in self._orders["sends"]:
                self._note(kind="sent", **command)
                answer = await self._wire.post(command["command"], command["body"], command["key"])
                self._note(kind="answer", key=command["key"], status=answer.status, answer=answer.body)
        except Gone:
            pass
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._orders["patience"]):
                await self._over.wait()
        if self._orders["moment"]["how"]:
            self._strike()
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)
        for thread in self._threads:
            thread.join()
        self._note(kind="end", completed=self._completed)

    async def _follow(self) -> None:
        with contextlib.suppress(Gone):
            async for event in self._wire.events(f"/sessions/{self._orders['session']}/facts"):
                self._take(event.data)
        self._over.set()

    def _take(self, fact: dict[str, Any]) -> None:
        moment = self._orders["moment"]
        self._completed += fact["type"] == "handoff.completed"
        if self._completed >= self._orders["due"]:
            self._over.set()
        if fact["sequence"] > self._orders["head"] and fact["type"] == moment["type"]:
            self._hits += 1
            if self._hits == moment["nth"] and moment["how"]:
                self._strike()

    def _strike(self) -> None:
        if self._struck:
            return
        self._struck = True
        orders, moment = self._orders, self._orders["moment"]
        with contextlib.suppress(ProcessLookupError):
            if moment["how"] == "fact":
                kill_after(orders["pid"], moment["microseconds"])
            else:
                # In a thread, so that sending continues while the log is watched.
                self._threads.append(threading.Thread(target=self._while_writing))
                self._threads[-1].start()

    def _while_writing(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            kill_while_writing(self._orders["pid"], Path(self._orders["wal"]), self._orders["moment"]["writes"], 1.0)

    def _note(self, **line: Any) -> None:
        os.write(self._journal, json.dumps(line).encode() + b"\n")
        os.fdatasync(self._journal)


if __name__ == "__main__":
    asyncio.run(Client(json.loads(sys.stdin.readline())).work())
