"""Process in which one agent has many subagents: `python -m bench.workers.subagents NAME FOLDER`.

At `{"run": n}` a lead delegates to n subagents in one answer and waits for all of them. Each makes
two model calls and one tool call. `langgraph` fans out to n agents with `Send`. The answer contains
the measurements.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import time
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any, Protocol

import uvloop

from bench.machine import settle
from bench.rigs.board import USAGE, AtOnce, Board
from bench.rigs.processes import PATIENCE
from callboard.agents.folder import FolderDefinitions
from callboard.contracts.facts.subagent import SubagentCompleted, SubagentSpawned, SubagentStarted
from callboard.contracts.facts.turn import TurnCompleted
from callboard.contracts.ports.model import Finished, ModelEvent, ModelRequest, ToolCallDelta
from callboard.contracts.record import Record

#: Number of children of an agent that run in parallel.
BUDGET = 16
#: Seconds after which an unchanged file is no longer read again, plus a margin.
SETTLES_S = 2.2
_AGENTS = {
    "lead": 'name: lead\nlead: true\ntools: ["*"]\npolicy: [Delegate, Finalize]\n',
    "worker": "name: worker\nkind: subagent\ntools: [Read]\n",
}


class Fleet(AtOnce):
    """Model without latency. `first_calls` has the time of each child's first model call (µs since the epoch), by its task."""

    def __init__(self) -> None:
        self.children = 0
        self.first_calls: dict[str, float] = {}

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        if request.agent != "lead":
            if request.iteration == 1:
                self.first_calls[_objective(request)] = time.time() * 1e6
            async for event in super().stream(request):
                yield event
            return
        match request.iteration:
            case 1:
                calls = [
                    ("spawn_subagent", {"agent": "worker", "objective": _part(number)})
                    for number in range(self.children)
                ]
            case 2:
                calls = [("wait_subagents", {})]
            case _:
                calls = [("Finalize", {"summary": "All parts are done."})]
        for index, (tool, arguments) in enumerate(calls):
            yield ToolCallDelta(index, f"call_{request.iteration}_{index}", tool, json.dumps(arguments))
        yield Finished(stop_reason="tool_calls", usage=USAGE)

    def get_model(self, provider: str, name: str) -> Fleet:
        return self


class Crowd(Protocol):
    """A system in which one agent has many subagents."""

    async def open(self, folder: Path) -> None: ...

    async def run(self, children: int) -> dict[str, Any]:
        """Return the measurements: `wall` in milliseconds, and others of the system."""
        ...

    async def close(self) -> None: ...


class Ours:
    """Callboard. Children are threads of the session, with the real Read behind the gate."""

    async def open(self, folder: Path) -> None:
        self._fleet = Fleet()
        agents = folder / "work" / "agents"
        agents.mkdir(parents=True)
        for name, front in _AGENTS.items():
            (agents / f"{name}.md").write_text(f"---\n{front}---\nYou are {name}.\n")
        self._board = Board(
            folder, models=self._fleet, definitions=FolderDefinitions(), team_budget=BUDGET, group_budget=BUDGET
        )
        await self._board.open()

    async def run(self, children: int) -> dict[str, Any]:
        self._fleet.children = children
        self._fleet.first_calls.clear()
        board = self._board
        began = time.perf_counter()
        accepted = await board.submit(None, "Have all parts done.", mode="auto")
        async with asyncio.timeout(PATIENCE):
            await self._over(accepted.session_id, accepted.thread_id)
        wall = (time.perf_counter() - began) * 1000
        facts = await board.parts.store.facts.read(accepted.session_id, limit=1_000_000)
        return {"wall": wall, "facts": len(facts), **_check_log(facts, children, self._fleet.first_calls)}

    async def close(self) -> None:
        await self._board.close()

    async def _over(self, session: str, lead: str) -> None:
        """Wait for the end of the lead's turn. Raises RuntimeError unless it completed."""
        stream = self._board.parts.store.facts.subscribe(session)
        try:
            async for records in stream:
                for record in records:
                    if record.scope.thread != lead:
                        continue
                    if record.header.type in ("turn.failed", "turn.interrupted"):
                        raise RuntimeError(f"the lead's turn ended with {record.fact}")
                    if record.header.type == "turn.completed":
                        return
        finally:
            await stream.aclose()


class LangGraph:
    """LangGraph: a fan-out with `Send` to agents that are graphs, with a checkpoint after each step."""

    async def open(self, folder: Path) -> None:
        from bench.peers.langgraph import Fan

        self._fan = Fan()
        self._runs = 0
        await self._fan.open(folder)

    async def run(self, children: int) -> dict[str, Any]:
        self._runs += 1
        began = time.perf_counter()
        done = await self._fan.run(f"run-{self._runs}", [_part(number) for number in range(children)], BUDGET)
        wall = (time.perf_counter() - began) * 1000
        if done != children:
            raise RuntimeError(f"{done} of {children} children ended")
        return {"wall": wall}

    async def close(self) -> None:
        await self._fan.close()


def _check_log(facts: Sequence[Record], children: int, first_calls: dict[str, float]) -> dict[str, Any]:
    """Check the log, and return the milliseconds from a freed slot to the next child's model call."""
    spawned = [record for record in facts if isinstance(record.fact, SubagentSpawned)]
    threads = {record.scope.thread for record in spawned}
    parts = {
        record.scope.thread: record.fact.objective.text
        for record in spawned
        if isinstance(record.fact, SubagentSpawned)
    }
    started: list[str] = []
    gaps: list[float] = []
    at_work = most = freed = 0
    for record in facts:
        if isinstance(record.fact, SubagentStarted):
            started.append(record.scope.thread)
            at_work += 1
            most = max(most, at_work)
            if freed:
                gaps.append((first_calls[parts[record.scope.thread]] - freed) / 1000)
        elif isinstance(record.fact, TurnCompleted) and record.scope.thread in threads:
            at_work -= 1
            freed = record.header.at
    return {
        "most": most,
        "gapless": [record.sequence for record in facts] == list(range(1, len(facts) + 1)),
        "in_order": started == [record.scope.thread for record in spawned],
        "completed": sum(isinstance(record.fact, SubagentCompleted) for record in facts) == children,
        "gaps": gaps,
    }


def _part(number: int) -> str:
    return f"Do part {number:04}."


def _objective(request: ModelRequest) -> str:
    words = (getattr(part, "text", "") for message in request.messages for part in message.content)
    return next(text for text in words if text.startswith("Do part "))


async def work(crowd: Crowd, folder: Path) -> None:
    """Execute orders until the input ends."""
    await crowd.open(folder)
    # A recently written definition is read again at each use.
    await asyncio.sleep(SETTLES_S)
    await crowd.run(2)
    settle()
    _say("ready")
    while line := await asyncio.to_thread(sys.stdin.readline):
        gc.collect()
        worked = time.process_time()
        measures = await crowd.run(json.loads(line)["run"])
        _say({**measures, "worked": (time.process_time() - worked) * 1000})
    await crowd.close()


def _say(value: Any) -> None:
    print(json.dumps(value), flush=True)


if __name__ == "__main__":
    uvloop.run(work(LangGraph() if sys.argv[1] == "langgraph" else Ours(), Path(sys.argv[2])))
