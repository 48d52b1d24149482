"""The turns of prove-acp: the model's requests, a person's answers, and the resulting facts."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from callboard.contracts.commands.action import RespondAction
from callboard.contracts.commands.turn import InterruptTurn
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.action import ActionRequired
from callboard.contracts.facts.base import Fact
from callboard.contracts.record import Record
from tests.prove.acp.formats import Call
from tests.prove.acp.models import Models
from tests.runtime.rigs.runtime_rig import RuntimeRig

#: Longest wait for an event, in seconds. These agents are slow on a busy machine.
PATIENCE_S = 120.0
_ENDS = ("turn.completed", "turn.failed", "turn.interrupted")
_F = TypeVar("_F", bound=Fact)


class TurnFacts(NamedTuple):
    """The facts of a turn."""

    records: Sequence[Record]

    @property
    def requests(self) -> list[ActionRequired]:
        """Return the requests to a person, in order."""
        return self.of(ActionRequired)

    def of(self, kind: type[_F]) -> list[_F]:
        """Return the facts of that type."""
        return [record.fact for record in self.records if isinstance(record.fact, kind)]


class Turns:
    """The turns of one session, in sequence."""

    def __init__(self, rig: RuntimeRig, server: Models) -> None:
        self.home = rig
        self.server = server
        self.session = ""
        self._count = 0
        self._answered: set[str] = set()

    async def turn(self, calls: list[Call], decision: str, **more: Any) -> TurnFacts:
        """Run a turn in which the model makes these calls.

        Give every request except the start this answer.
        """
        before = await self.begin(calls, **more)
        async with asyncio.timeout(PATIENCE_S):
            while not any(record.header.type in _ENDS for record in (await self.since(before)).records):
                await self._answer(before, decision)
                await asyncio.sleep(0.02)
        return await self.since(before)

    async def begin(self, calls: list[Call], **more: Any) -> int:
        """Submit a turn. Return the number of facts before it."""
        before = len(await self.home.facts(self.session)) if self.session else 0
        self._count += 1
        text = f"Do what turn-{self._count}-asks."
        self.server.turn(calls, text)
        self.session = (
            await self.home.submit(text, self.session or None, **{"permission_mode": "ask", **more})
        ).session_id
        return before

    async def since(self, before: int) -> TurnFacts:
        """Return the facts since then."""
        return TurnFacts((await self.home.facts(self.session))[before:])

    async def of(self, kind: type[_F]) -> list[_F]:
        """Return all facts of that type."""
        return (await self.since(0)).of(kind)

    async def last(self) -> str:
        """Return the newest facts, for a report."""
        return "; ".join(f"{record.header.type} {record.fact}"[:200] for record in (await self.since(0)).records[-4:])

    async def interrupted(self, calls: list[Call]) -> tuple[float, TurnFacts]:
        """Interrupt a turn that waits for an answer.

        Return its facts and the seconds that the interrupt took.
        """
        before = await self.begin(calls)
        await self.answer_until(before, "")
        began = time.monotonic()
        await self.home.do(InterruptTurn(session_id=self.session))
        await over(self, before)
        return time.monotonic() - began, await self.since(before)

    async def answer_until(self, before: int, named: str) -> None:
        """Approve requests until one that names this. Leave that one open."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                turn = await self.since(before)
                if any(request.tool != "StartAgent" and named in request.prompt for request in turn.requests):
                    return
                if any(record.header.type in _ENDS for record in turn.records):
                    raise RuntimeError(f"the turn ended before it asked: {await self.last()}")
                await self._answer(before, "approve", waits=named)
                await asyncio.sleep(0.02)

    async def _answer(self, before: int, decision: str, *, waits: str | None = None) -> None:
        """Answer open requests, except one that names `waits`."""
        for record in (await self.since(before)).records:
            fact, action = record.fact, record.scope.action
            if not isinstance(fact, ActionRequired) or action in self._answered:
                continue
            if waits is not None and fact.tool != "StartAgent" and waits in fact.prompt:
                continue
            self._answered.add(action)
            answer: Any = {"decision": "approve" if fact.tool == "StartAgent" else decision}
            # An agent that did not wait withdrew its request.
            with contextlib.suppress(Refusal):
                await self.home.do(RespondAction(session_id=self.session, action_id=action, **answer))


async def over(turns: Turns, before: int) -> None:
    """Wait until the turn ended in any way."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            if any(record.header.type in _ENDS for record in (await turns.since(before)).records):
                return
            await asyncio.sleep(0.02)


def define(work: Path, command: list[str]) -> None:
    """Write the definition of the agent."""
    front = f"name: coder\ndescription: Codes.\nkind: main\nlead: true\nprovider: acp\ncommand: {json.dumps(command)}\n"
    (work / "agents" / "coder.md").write_text(f'---\n{front}tools: ["*"]\npolicy: [Patch]\n---\n')


def agent_process(home: Path) -> int:
    """Return the agent's own process.

    It is the first child of its guard among the processes with its home. The guard's later children
    are escaped processes.
    """
    mine: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        # A process that just ended, or belongs to another user, is not counted.
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and f"HOME={home}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                mine[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
    (guard,) = [pid for pid, parent in mine.items() if parent not in mine]
    return min((pid for pid, parent in mine.items() if parent == guard), key=_began)


def escaped(work: Path) -> bool:
    """Return True while the escaped process is alive."""
    try:
        pid = int((work / "escaped.pid").read_text())
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (OSError, ValueError):
        return False


async def ended(work: Path) -> bool:
    """Return True if the escaped process ends."""
    until = time.monotonic() + 30
    while time.monotonic() < until:
        if not escaped(work):
            return True
        await asyncio.sleep(0.05)
    return False


def _began(pid: int) -> int:
    """Return the process's start, in ticks since the machine started."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])
