"""Proof that coding agents from the npm registry work in a team: OpenCode, Gemini CLI, Codex and
Claude Code.

Each is a real process that speaks the Agent Client Protocol, in the version of `agents` and in the
newest one, with a local server in place of its model. It runs a command, an edit, a new file, a
rejected command, a rejected file, a planning turn, an interrupt, a kill and a resume. The proof
reads the folder for what the agent did, and compares the agent's requests with the log. The agents
are installed once, outside of the checkout (about 2.5 GB). The suite drives its own small agent
(`scripted`) through the same turns.

    make prove-acp
    make prove-acp ARGS="--agent codex --only newest"
    make prove-acp ARGS="--agent scripted --sabotage unasked"
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import tempfile
import time
from pathlib import Path

from callboard.adapters.acp import AcpAgents
from callboard.agents.folder import FolderDefinitions
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.agent import AgentConnected, AgentDisconnected, AgentModeChanged
from callboard.contracts.facts.artifact import ArtifactVersionCreated
from callboard.contracts.facts.message import MessageText
from callboard.contracts.facts.plan import PlanUpdated
from callboard.contracts.facts.tool import ToolCompleted, ToolRefused
from callboard.contracts.facts.turn import TurnFailed
from tests.prove.acp.agents import AGENTS, ESCAPE, NODE, PLACE, PLAN, Agent, install, newest
from tests.prove.acp.models import DONE, Models, models
from tests.prove.acp.planted import planted
from tests.prove.acp.turns import Turns, agent_process, define, ended, escaped, over
from tests.prove.acp.witness import Witness
from tests.prove.driver.report import Report, arguments, run
from tests.runtime.rigs.runtime_rig import RuntimeRig, open_runtime

CLAIMS = ("mode", "command", "edit", "new file", "no", "plan", "planning", "interrupt", "kill", "resume", "requests")
UNASKED = "no: what was refused was not done"
WIDE = "mode: it asks from the start, whatever its own settings say"
RECORDED = "requests: no requested call is recorded as run without a request"
DEATH = "kill: a death fails its turn and is on record"


class Proof:
    """The turns of one agent."""

    def __init__(self, report: Report, name: str, version: str, turns: Turns, home: Path) -> None:
        self.report = report
        self.name = name
        self.version = version
        self.agent: Agent = AGENTS[name]
        self.turns = turns
        self.home = home
        self.work = turns.home.folder

    def check(self, claim: str, holds: bool, value: object = "") -> bool:
        return self.report.check(f"{self.name} {self.version}: {claim}", holds, str(value))

    async def all(self) -> None:
        """Run all turns, and record the figures."""
        began = time.monotonic()
        await self.command()
        await self.edits()
        await self.refusals()
        await self.planning()
        stopped = await self.interrupt()
        await self.death()
        there = next(fact for fact in await self.turns.of(AgentConnected))
        self.report.figure(
            f"{self.name} {self.version}",
            f"{there.name} {there.version}, mode {there.mode or '-'}, model {there.model or '-'}: "
            f"{time.monotonic() - began:.1f} s, stopped in {stopped:.2f} s, "
            f"{len(self.turns.server.requests)} requests of its model",
        )

    async def command(self) -> None:
        """Run a command that is asked about and approved, and record a plan."""
        plan = [self.agent.plan] if self.agent.plan is not None else []
        turn = await self.turns.turn([*plan, self.agent.call("echo ${OPENAI_API_KEY:-hello} > made.txt")], "approve")
        (there,) = turn.of(AgentConnected)
        self.check("command: reports its version", there.version == self.version, there.version)
        self.check(WIDE, there.mode == self.agent.asks, there.mode)
        requests = [(request.tool, "made.txt" in request.prompt) for request in turn.requests]
        self.check("command: one request", requests == [("StartAgent", False), ("Bash", True)], turn.requests)
        path = self.work / "made.txt"
        self.check("command: what was allowed was done", path.exists() and path.read_text() == "hello\n")
        texts = [fact.content.text for fact in turn.of(MessageText)]
        self.check("command: its answer is the turn's answer", texts[-1:] == [DONE], texts)
        if plan:
            plans = turn.of(PlanUpdated)
            last = [PlanUpdated(steps=PLAN), PlanUpdated(steps=PLAN, final=True)]
            self.check("plan: it is on record, and once more when it is final", plans[-2:] == last, plans)

    async def edits(self) -> None:
        """Change one file and create one: one request and one version each."""
        old, new = self.work / "old.txt", self.work / "new.txt"
        turn = await self.turns.turn(self.agent.edit(str(old), "two", "TWO"), "approve")
        self.check("edit: one request", [request.tool for request in turn.requests] == ["Edit"], turn.requests)
        self.check(
            "edit: the request names the file",
            all("old.txt" in request.prompt for request in turn.requests),
            turn.requests,
        )
        self.check("edit: it is done", old.read_text() == "one\nTWO\n", old.read_text())
        self.check("edit: one version", _versions(turn.of(ArtifactVersionCreated)) == 1, turn.of(ToolCompleted))
        turn = await self.turns.turn([self.agent.write(str(new), "fresh\n")], "approve")
        self.check("new file: one request", [request.tool for request in turn.requests] == ["Edit"], turn.requests)
        self.check("new file: it is made", new.exists() and new.read_text() == "fresh\n")
        self.check("new file: one version", _versions(turn.of(ArtifactVersionCreated)) == 1, turn.of(ToolCompleted))

    async def refusals(self) -> None:
        """Reject a command and a new file."""
        for claim, file, call in (
            ("no: the refusal of a command is on record", "refused.txt", self.agent.call("echo no > refused.txt")),
            (
                "no: the refusal of a file is on record",
                "refused-file.txt",
                self.agent.write(str(self.work / "refused-file.txt"), "no\n"),
            ),
        ):
            turn = await self.turns.turn([call], "reject")
            self.check(UNASKED, not (self.work / file).exists(), file)
            codes = [fact.code for fact in turn.of(ToolRefused)]
            self.check(claim, codes == ["person_denied"], codes)

    async def planning(self) -> None:
        """Plan: the turn changes nothing and asks nothing."""
        call = self.agent.write(str(self.work / "planned.txt"), "no\n")
        turn = await self.turns.turn([call], "approve", permission_mode="planning")
        self.check("planning: no file is made", not (self.work / "planned.txt").exists())
        self.check("planning: no request", not turn.requests, turn.requests)
        modes = [fact.mode for fact in turn.of(AgentModeChanged)]
        wanted = [self.agent.plans] if self.agent.plans != self.agent.asks else []
        self.check("planning: the agent is in its mode for that", modes == wanted, modes)

    async def interrupt(self) -> float:
        """Interrupt a turn that waits for an answer."""
        stopped, turn = await self.turns.interrupted([self.agent.call("echo no > stopped.txt")])
        types = [record.header.type for record in turn.records]
        self.check("interrupt: the question is withdrawn", types.count("action.withdrawn") == 1, types[-8:])
        self.check("interrupt: the turn ends as interrupted", "turn.interrupted" in types, types[-8:])
        self.check("interrupt: what was stopped was not done", not (self.work / "stopped.txt").exists())
        return stopped

    async def death(self) -> None:
        """Kill the agent while it waits and after it started an escaped process. Then resume it."""
        calls = [self.agent.call(ESCAPE), self.agent.call("echo no > died.txt")]
        before = await self.turns.begin(calls)
        await self.turns.answer_until(before, "died.txt")
        alive = escaped(self.work)
        os.kill(agent_process(self.home), signal.SIGKILL)
        await over(self.turns, before)
        turn = await self.turns.since(before)
        codes, gone = [fact.code for fact in turn.of(TurnFailed)], turn.of(AgentDisconnected)
        self.check(DEATH, (codes, len(gone)) == (["model_unavailable"], 1), f"{codes}, {gone}")
        types = [record.header.type for record in turn.records]
        self.check("kill: the question is withdrawn", "action.withdrawn" in types, types[-8:])
        self.check("kill: the requested call did not run", not (self.work / "died.txt").exists())
        self.check("kill: the process that got away was there", alive)
        self.check("kill: every process of it ends", await ended(self.work))
        turn = await self.turns.turn([], "approve")
        self.check(
            "resume: the start is requested again",
            [request.tool for request in turn.requests] == ["StartAgent"],
            turn.requests,
        )
        there = turn.of(AgentConnected)
        self.check("resume: its mode asks", [fact.mode for fact in there] == [self.agent.asks], there)
        resumed = [fact.resumed for fact in there] == [True]
        if resumed or not self.agent.forgets:
            self.check("resume: it has its conversation again", resumed, there)
        else:
            text = json.dumps(self.turns.server.requests[-1])
            got_transcript = "which you do not remember" in text and "turn-1-asks" in text
            self.check("resume: without its conversation it gets the former text", got_transcript, text[-300:])
        texts = [fact.content.text for fact in turn.of(MessageText)]
        self.check("resume: it answers", texts[-1:] == [DONE], texts)


async def prove_one(report: Report, name: str, version: str, place: Path, sabotage: str = "") -> None:
    """Drive one agent through its turns."""
    report.progress(f"{name} {version}: installing", every=0)
    programs = await asyncio.to_thread(install, name, version, place)
    report.progress(f"{name} {version}: at work", every=0)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as root:
        folder = Path(root)
        work, home = folder / "work", folder / "home"
        (work / "agents").mkdir(parents=True)
        home.mkdir()
        (work / "old.txt").write_text("one\ntwo\n")
        with models() as server:
            define(work, AGENTS[name].settings(work, home, server.url, programs))
            environment = {"PATH": f"{NODE / 'bin'}:{os.environ['PATH']}", "HOME": str(home), "TERM": "dumb"}
            environment["OPENAI_API_KEY"] = "sk-that-no-agent-may-see"
            with planted(AcpAgents(environment), sabotage) as agents:
                witness = Witness(agents)
                async with open_runtime(folder, {"calls": []}, FolderDefinitions(), witness) as opened:
                    await _whole(report, name, version, opened, server, home, witness)


async def _whole(
    report: Report, name: str, version: str, opened: RuntimeRig, server: Models, home: Path, witness: Witness
) -> None:
    """Run all turns. An agent that does not finish fails its claim, and the next one is driven."""
    turns = Turns(opened, server)
    try:
        await Proof(report, name, version, turns, home).all()
    except (Refusal, RuntimeError, TimeoutError, ValueError, OSError) as error:
        report.check(f"{name} {version}: comes to the end of its turns", False, f"{error!r}; {await turns.last()}")
    unasked = witness.unasked_in((await turns.since(0)).records)
    report.figure(
        f"{name} {version} asks", f"at most {max(witness.waits.values(), default=0):.2f} s after it reports a call"
    )
    report.check(
        f"{name} {version}: {RECORDED}",
        bool(witness.requests) and not unasked,
        f"{len(witness.requests)} asked, {unasked}",
    )


def _versions(versions: list[ArtifactVersionCreated]) -> int:
    """Return the versions that the agent made, without a file's earlier version."""
    return len([version for version in versions if version.version_origin == "agent"])


def _table(report: Report, driven: list[tuple[str, str]]) -> None:
    """Print a row of the documentation's table for each agent."""
    print(f"\n| agent | version | {' | '.join(CLAIMS)} |\n|{' --- |' * (len(CLAIMS) + 2)}")
    for name, version in driven:
        cells: list[str] = []
        for claim in CLAIMS:
            mine = [check for check in report.checked if check.startswith(f"{name} {version}: {claim}: ")]
            cells.append("no" if any(check in report.failed for check in mine) else "yes" if mine else "–")
        print(f"| {name} | {version} | {' | '.join(cells)} |")


async def prove(only: str, place: Path = PLACE, sabotage: str = "", which: str = "") -> int:
    report = Report("prove-acp")
    driven: list[tuple[str, str]] = []
    for name in (only,) if only else (name for name in AGENTS if AGENTS[name].package):
        pinned = AGENTS[name].version
        chosen = await asyncio.to_thread(newest, name) if AGENTS[name].package and which != "pinned" else pinned
        for version in dict.fromkeys((chosen,) if which == "newest" else (pinned, chosen)):
            driven.append((name, version))
            await prove_one(report, name, version, place, sabotage)
    _table(report, driven)
    return report.end()


def main() -> int:
    parser = arguments(__doc__, n=1, help_n="not used")
    parser.add_argument("--agent", default="", choices=["", *AGENTS], help="one agent alone")
    parser.add_argument("--only", default="", choices=["", "pinned", "newest"], help="one version of each alone")
    parser.add_argument("--place", type=Path, default=PLACE, help=f"where the agents are installed [{PLACE}]")
    options = parser.parse_args()
    return run(prove(options.agent, options.place, options.sabotage, options.only), longest=1800)


if __name__ == "__main__":
    sys.exit(main())
