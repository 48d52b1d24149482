"""Proves that coding agents from the npm registry work in a team: OpenCode, Gemini CLI, Codex and Claude Code, in the versions
of `acp_agents`.

Each is a real process that speaks the Agent Client Protocol, with a local server in place of its model: it is started with a
person's yes, asks before it runs a command, and answers; then a second command is refused, a third turn is stopped while
it waits, and in a fourth it is killed. What it made, and did not make, is looked at in the folder. The agents are installed
once (some 1.3 GB all together). The suite drives the small agent of its own (`scripted`) through the same turns.

    make prove-acp
    make prove-acp ARGS="--agent codex"
    make prove-acp ARGS="--agent scripted --sabotage unasked"
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from callboard.adapters.acp import AcpAgents
from callboard.agents.folder import FolderDefinitions
from callboard.contracts.commands import InterruptTurn, RespondAction
from callboard.contracts.errors import Refusal
from callboard.contracts.facts import (
    ActionRequired,
    AgentConnected,
    AgentDisconnected,
    MessageText,
    PlanUpdated,
    ToolCompleted,
    ToolRefused,
    ToolRequested,
    TurnFailed,
)
from callboard.contracts.record import Record
from tests.runtime.house import House, house

from .acp_agents import AGENTS, COMMANDS, NODE, PLACE, PLAN, Agent, install
from .acp_models import DONE, Models, models
from .acp_planted import planted
from .report import Report, arguments, run

#: How long anything may take that must come, in seconds.
PATIENCE_S = 120.0

UNASKED = "what was refused was not done"
DEATH = "a death fails its turn and is told"


class Proof:
    """The turns of one agent."""

    def __init__(self, report: Report, name: str, home: House, server: Models, place: Path) -> None:
        self.report = report
        self.name = name
        self.agent: Agent = AGENTS[name]
        self.home = home
        self.server = server
        self.place = place
        self.session: str | None = None

    async def submit(self, number: int, text: str) -> str:
        """Begins the turn of that number."""
        plan = [self.agent.plan] if self.agent.plan is not None and number == 0 else []
        self.server.turn([*plan, self.agent.call(COMMANDS[number])])
        self.session = (await self.home.submit(text, self.session)).session_id
        return self.session

    def check(self, claim: str, holds: bool, seen: str = "") -> bool:
        return self.report.check(f"{self.name}: {claim}", holds, seen)

    async def turns(self) -> None:
        """All of them, and the figures."""
        began = time.monotonic()
        session = await self.submit(0, "Make a file.")
        await _answer(self.home, session, 1, "approve")
        await _until(self.home, session, "agent.connected")
        started = time.monotonic() - began
        await self._made(session)
        took = time.monotonic() - began - started
        if not await self._refused(session):
            # One that does what it was refused is not worth a third turn.
            return
        stopped = await self._stopped(session)
        types = await self.home.types(session)
        await self._died(session)
        facts = [record.fact for record in await self.home.facts(session)]
        there = next(fact for fact in facts if isinstance(fact, AgentConnected))
        calls = [fact for fact in facts if isinstance(fact, ToolRequested)]
        self.report.figure(
            self.name,
            f"{there.name} {there.version}: started in {started:.1f} s, a turn in {took:.1f} s, stopped in {stopped:.2f} s, "
            f"{len(types)} facts, {len(calls)} calls, {len(self.server.asked)} requests of its model",
        )

    async def _made(self, session: str) -> None:
        asked = await _answer(self.home, session, 2, "approve")
        await _until(self.home, session, "turn.completed")
        facts = [record.fact for record in await self.home.facts(session)]
        (there,) = [fact for fact in facts if isinstance(fact, AgentConnected)]
        texts = [fact.content.text for fact in facts if isinstance(fact, MessageText)]
        asks = (asked.tool, "made.txt" in asked.prompt)
        self.check("tells its version", there.version == self.agent.version, there.version)
        self.check("a command is asked about", asks == ("Bash", True), asked.prompt)
        self.check("what was allowed was done", (self.home.folder / "made.txt").read_text() == "hello\n")
        self.check("its answer is the turn's", texts[-1] == DONE, repr(texts))
        commands = [f for f in facts if isinstance(f, ToolRequested) and f.tool in ("StartAgent", "Bash")]
        ended = [f for f in facts if isinstance(f, ToolCompleted)]
        self.check("its calls end", len(commands) == 2 and len(ended) >= 2, str(facts))
        if self.agent.plan is not None:
            plans = [fact for fact in facts if isinstance(fact, PlanUpdated)]
            last = [PlanUpdated(steps=PLAN), PlanUpdated(steps=PLAN, final=True)]
            self.check("its plan is told, and once more when it is final", plans[-2:] == last, str(plans))

    async def _refused(self, session: str) -> bool:
        await self.submit(1, "Make another.")
        await _answer(self.home, session, 3, "reject")
        await _over(self.home, session, 2)
        refused = [record.fact for record in await self.home.facts(session) if isinstance(record.fact, ToolRefused)]
        self.check(UNASKED, not (self.home.folder / "refused.txt").exists())
        told = [fact.code for fact in refused] == ["person_denied"]
        return self.check("the refusal is told", told, str(refused)) and not (self.home.folder / "refused.txt").exists()

    async def _stopped(self, session: str) -> float:
        await self.submit(2, "And another.")
        await _until(self.home, session, "action.required", 4)
        stopping = time.monotonic()
        await self.home.do(InterruptTurn(session_id=session))
        await _until(self.home, session, "turn.interrupted")
        stopped = time.monotonic() - stopping
        types = await self.home.types(session)
        withdrawn = types.count("action.withdrawn") == 1
        self.check("a stopped turn's question is withdrawn", withdrawn, str(types[-8:]))
        self.check("what was stopped was not done", not (self.home.folder / "stopped.txt").exists())
        return stopped

    async def _died(self, session: str) -> None:
        before = len(await self.home.types(session))
        await self.submit(3, "A last one.")
        # One that did not stop in time was ended, and asks to be started first.
        asked = await _until(self.home, session, "action.required", 5)
        if isinstance(asked.fact, ActionRequired) and asked.fact.tool == "StartAgent":
            await _answer(self.home, session, 5, "approve")
            await _until(self.home, session, "action.required", 6)
        killed = _kill(self.place)
        await _over(self.home, session, 4)
        since = [record.fact for record in (await self.home.facts(session))[before:]]
        failed = [fact.code for fact in since if isinstance(fact, TurnFailed)]
        gone = [fact for fact in since if isinstance(fact, AgentDisconnected)]
        self.check(DEATH, (failed, len(gone)) == (["model_unavailable"], 1), f"{killed} killed, {failed}, {gone}")
        types = [fact.type for fact in since]
        self.check("a dead one's question is withdrawn", "action.withdrawn" in types, str(types[-8:]))
        self.check("what the dead one asked was not done", not (self.home.folder / "died.txt").exists())


async def prove_one(report: Report, name: str, place: Path, sabotage: str = "") -> None:
    """One agent, through its turns."""
    report.progress(f"{name}: installing", every=0)
    programs = await asyncio.to_thread(install, name, place)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        work, home = folder / "work", folder / "home"
        (work / "agents").mkdir(parents=True)
        home.mkdir()
        with models() as server:
            _define(work, AGENTS[name].settings(work, home, server.url, programs))
            given = {"PATH": f"{NODE / 'bin'}:{os.environ['PATH']}", "HOME": str(home), "TERM": "dumb"}
            given["OPENAI_API_KEY"] = "sk-that-no-agent-may-see"
            agents = planted(AcpAgents(given), sabotage)
            async with house(folder, {"calls": []}, FolderDefinitions(), agents) as opened:
                await Proof(report, name, opened, server, home).turns()


async def _answer(home: House, session: str, nth: int, decision: str) -> ActionRequired:
    asked = await _until(home, session, "action.required", nth)
    said: Any = {"decision": decision}
    # An agent that did not wait has withdrawn its question.
    with contextlib.suppress(Refusal):
        await home.do(RespondAction(session_id=session, action_id=asked.scope.action, **said))
    assert isinstance(asked.fact, ActionRequired)
    return asked.fact


async def _until(home: House, session: str, kind: str, nth: int = 1) -> Record:
    """Waits for the nth fact of a type; an agent of this size takes its time to start on a busy machine."""
    until = time.monotonic() + PATIENCE_S
    while True:
        facts = await home.facts(session)
        found = [record for record in facts if record.header.type == kind]
        if len(found) >= nth:
            return found[nth - 1]
        began = max(record.sequence for record in facts if record.header.type == "turn.submitted")
        failed = [str(one.fact) for one in facts if one.header.type == "turn.failed" and one.sequence > began]
        if failed or time.monotonic() > until:
            last = failed or [f"{one.header.type} {one.fact}"[:300] for one in facts[-3:]]
            raise RuntimeError(f"no {kind}: {'; '.join(last)}")
        await asyncio.sleep(0.02)


async def _over(home: House, session: str, turns: int) -> None:
    """Waits until so many turns are over, however they ended: an agent that is told no may end its turn or go on."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            types = await home.types(session)
            if sum(types.count(f"turn.{how}") for how in ("completed", "failed", "interrupted")) >= turns:
                return
            await asyncio.sleep(0.05)


def _define(work: Path, command: list[str]) -> None:
    front = f"name: coder\ndescription: Codes.\nkind: main\nlead: true\nprovider: acp\ncommand: {json.dumps(command)}\n"
    (work / "agents" / "coder.md").write_text(f'---\n{front}tools: ["*"]\npolicy: [Patch]\n---\n')


def _kill(home: Path) -> int:
    """Kills the agent, known by its home; says how many processes that were."""
    killed = 0
    for entry in Path("/proc").iterdir():
        # What ends meanwhile, or is not ours to look at, is not there.
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and f"HOME={home}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                os.kill(int(entry.name), signal.SIGKILL)
                killed += 1
    return killed


async def prove(only: str, place: Path = PLACE, sabotage: str = "") -> int:
    report = Report("prove-acp")
    for name in (only,) if only else (one for one in AGENTS if AGENTS[one].package):
        await prove_one(report, name, place, sabotage)
    return report.end()


def main() -> int:
    parser = arguments(__doc__, n=1, help_n="not used")
    parser.add_argument("--agent", default="", choices=["", *AGENTS], help="one agent alone")
    parser.add_argument("--place", type=Path, default=PLACE, help="where the agents are installed [.venv/acp-agents]")
    given = parser.parse_args()
    return run(prove(given.agent, given.place, given.sabotage), longest=900)


if __name__ == "__main__":
    sys.exit(main())
