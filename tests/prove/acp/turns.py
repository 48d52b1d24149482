"""The turns of prove-acp: what is asked of the agent's model, what a person answers, and what came of it."""

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
from tests.runtime.rigs.house import House

#: How long anything may take that must come, in seconds: an agent of this size takes its time on a busy machine.
PATIENCE_S = 120.0
_ENDS = ("turn.completed", "turn.failed", "turn.interrupted")
_F = TypeVar("_F", bound=Fact)


class Seen(NamedTuple):
    """The facts of a turn."""

    records: Sequence[Record]

    @property
    def asked(self) -> list[ActionRequired]:
        """What a person was asked, in order."""
        return self.of(ActionRequired)

    def of(self, kind: type[_F]) -> list[_F]:
        """The facts of that type."""
        return [record.fact for record in self.records if isinstance(record.fact, kind)]


class Turns:
    """The turns of one session, one after the other."""

    def __init__(self, home: House, server: Models) -> None:
        self.home = home
        self.server = server
        self.session = ""
        self._count = 0
        self._answered: set[str] = set()

    async def turn(self, calls: list[Call], decision: str, **more: Any) -> Seen:
        """A turn in which the model makes these calls, and every question but that of the start gets this answer."""
        before = await self.begin(calls, **more)
        async with asyncio.timeout(PATIENCE_S):
            while not any(record.header.type in _ENDS for record in (await self.since(before)).records):
                await self._answer(before, decision)
                await asyncio.sleep(0.02)
        return await self.since(before)

    async def begin(self, calls: list[Call], **more: Any) -> int:
        """Submits a turn. Returns how many facts there were before."""
        before = len(await self.home.facts(self.session)) if self.session else 0
        self._count += 1
        text = f"Do what turn-{self._count}-asks."
        self.server.turn(calls, text)
        self.session = (
            await self.home.submit(text, self.session or None, **{"permission_mode": "ask", **more})
        ).session_id
        return before

    async def since(self, before: int) -> Seen:
        """The facts since then."""
        return Seen((await self.home.facts(self.session))[before:])

    async def of(self, kind: type[_F]) -> list[_F]:
        """All facts of that type."""
        return (await self.since(0)).of(kind)

    async def last(self) -> str:
        """The newest facts, for a report."""
        return "; ".join(f"{one.header.type} {one.fact}"[:200] for one in (await self.since(0)).records[-4:])

    async def interrupted(self, calls: list[Call]) -> tuple[float, Seen]:
        """A turn that is stopped while it waits for an answer, and how long that took in seconds."""
        before = await self.begin(calls)
        await self.answer_until(before, "")
        began = time.monotonic()
        await self.home.do(InterruptTurn(session_id=self.session))
        await over(self, before)
        return time.monotonic() - began, await self.since(before)

    async def answer_until(self, before: int, named: str) -> None:
        """Approves what is asked until the question that names this comes; that one waits."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                seen = await self.since(before)
                if any(one.tool != "StartAgent" and named in one.prompt for one in seen.asked):
                    return
                if any(record.header.type in _ENDS for record in seen.records):
                    raise RuntimeError(f"the turn ended before it asked: {await self.last()}")
                await self._answer(before, "approve", waits=named)
                await asyncio.sleep(0.02)

    async def _answer(self, before: int, decision: str, *, waits: str | None = None) -> None:
        """Answers what is asked; not what names what `waits`."""
        for record in (await self.since(before)).records:
            fact, action = record.fact, record.scope.action
            if not isinstance(fact, ActionRequired) or action in self._answered:
                continue
            if waits is not None and fact.tool != "StartAgent" and waits in fact.prompt:
                continue
            self._answered.add(action)
            said: Any = {"decision": "approve" if fact.tool == "StartAgent" else decision}
            # An agent that did not wait has withdrawn its question.
            with contextlib.suppress(Refusal):
                await self.home.do(RespondAction(session_id=self.session, action_id=action, **said))


async def over(turns: Turns, before: int) -> None:
    """Waits until the turn is over, however it ended."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            if any(record.header.type in _ENDS for record in (await turns.since(before)).records):
                return
            await asyncio.sleep(0.02)


def define(work: Path, command: list[str]) -> None:
    """Writes the definition of the agent."""
    front = f"name: coder\ndescription: Codes.\nkind: main\nlead: true\nprovider: acp\ncommand: {json.dumps(command)}\n"
    (work / "agents" / "coder.md").write_text(f'---\n{front}tools: ["*"]\npolicy: [Patch]\n---\n')


def agent_process(home: Path) -> int:
    """The agent's own process: of those with its home, the first child of the one that has another parent. That one is its
    guard, whose later children are processes that got away."""
    mine: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        # What ends meanwhile, or is not ours to look at, is not there.
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and f"HOME={home}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                mine[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
    (guard,) = [pid for pid, parent in mine.items() if parent not in mine]
    return min((pid for pid, parent in mine.items() if parent == guard), key=_began)


def escaped(work: Path) -> bool:
    """True while the process that got away is alive."""
    try:
        pid = int((work / "escaped.pid").read_text())
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (OSError, ValueError):
        return False


async def ended(work: Path) -> bool:
    """True where the process that got away ends."""
    until = time.monotonic() + 30
    while time.monotonic() < until:
        if not escaped(work):
            return True
        await asyncio.sleep(0.05)
    return False


def _began(pid: int) -> int:
    """When the process began, in ticks since the machine did."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])
