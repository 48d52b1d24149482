"""Teams for proofs: agents of a folder, their model's answers, and a session followed from outside."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import Iterable
from typing import Any

from tests.prove.driver import scenes
from tests.prove.driver.product import PLANTED, Place, Server
from tests.prove.driver.session_driver import do
from tests.prove.driver.wire import Gone, Wire

TURN_ENDS = frozenset({"turn.completed", "turn.failed", "turn.interrupted"})
CHILD_ENDS = frozenset({"subagent.completed", "subagent.failed", "subagent.cancelled"})
Row = dict[str, Any]


def agent(at: Place, name: str, **front: Any) -> None:
    """Write an agent of the folder. The values of its frontmatter are JSON, which is YAML."""
    folder = at.folder / "agents"
    folder.mkdir(exist_ok=True)
    lines = "".join(f"{key}: {json.dumps(value)}\n" for key, value in {"name": name, **front}.items())
    (folder / f"{name}.md").write_text(f"---\n{lines}---\nYou are {name}.\n")


def lead(at: Place, **front: Any) -> None:
    """Write an agent that talks with a person and may do everything."""
    agent(at, "lead", lead=True, role="planner", tools=["*"], policy=["Patch", "Delegate", "Finalize"], **front)


def worker(at: Place, **front: Any) -> None:
    """Write a definition of children. Without Finalize they work until a text without a call."""
    agent(at, "worker", kind="subagent", role="executor", tools=["*"], policy=["Patch"], **front)


def plays(at: Place, matches: Iterable[tuple[str, str, list[scenes.Call]]]) -> None:
    """Return a scenario: an agent of that definition makes these calls in a turn whose input has
    the text.
    """
    match = [{"agent": agent, "text": text, "calls": calls} for agent, text, calls in matches]
    at.play({"name": "proof", "match": match})


async def started(at: Place, fault: str = "") -> Server:
    """Start the product, with a fault of `planted` if one is named."""
    return await Server.start(at, before=(sys.executable, str(PLANTED), fault) if fault else ())


class Followed:
    """The facts of one session from its stream.

    Requests are approved on arrival, unless another client answers.
    """

    def __init__(self, wire: Wire, session: str, *, approves: bool = True) -> None:
        self.session = session
        self.facts: list[Row] = []
        self.gone = False
        self._wire = wire
        self._approves = approves
        self._news = asyncio.Event()
        self._task = asyncio.create_task(self._follow())

    def count(self, *types: str) -> int:
        """Return the number of facts of these types."""
        return sum(fact["type"] in types for fact in self.facts)

    @property
    def open_runs(self) -> int:
        """Return the number of open runs."""
        return self.count("turn.started") - self.count(*TURN_ENDS)

    @property
    def open_children(self) -> int:
        """Return the number of open children."""
        return self.count("subagent.spawned") - self.count(*CHILD_ENDS)

    async def until(self, condition: Any, longest: float = 60) -> bool:
        """Wait until the condition is true, at most this many seconds. Return whether it is."""
        end = asyncio.get_running_loop().time() + longest
        while not condition():
            left = end - asyncio.get_running_loop().time()
            if left <= 0 or (self.gone and not condition()):
                return False
            self._news.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(min(left, 0.05)):
                    await self._news.wait()
        return True

    async def close(self) -> None:
        """Stop following. Raises the error that ended the stream."""
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task

    async def _follow(self) -> None:
        with contextlib.suppress(Gone):
            async for event in self._wire.events(f"/sessions/{self.session}/facts"):
                self.facts.append(event.data)
                self._news.set()
                if self._approves and event.data["type"] == "action.required":
                    answer = {"sessionId": self.session, "actionId": event.data["actionId"], "decision": "approve"}
                    await self._wire.post("respond_action", answer)
        self.gone = True
        self._news.set()


async def begin(server: Server, text: str, **more: str) -> Followed:
    """Begin a session with this turn, and follow it."""
    answer = await do(server, "submit_turn", workspaceId=server.workspace, text=text, **more)
    return Followed(server.wire, answer["sessionId"])
