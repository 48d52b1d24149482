"""The server as a process: started as a person starts it, killed as a machine kills it."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.prove.driver.wire import Wire

#: The source tree.
ROOT = Path(__file__).resolve().parents[3]
#: Command that starts a server. A proof that traces puts its tracer before it.
COMMAND = (sys.executable, "-m", "callboard", "up", "--json", "--no-browser", "--port", "0")
#: Starts the product with a fault: see `sabotages`.
PLANTED = Path(__file__).with_name("sabotages.py")
#: Time limit of a start, in seconds.
START_S = 30.0


class Place:
    """The folders of one proof: the product's home, the workspace, scenarios, and clients' notes."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.home = root / "home"
        self.folder = root / "work"
        self.scenario = root / "scenario.json"
        self.folder.mkdir()

    @property
    def store(self) -> Path:
        """Return the folder of the log."""
        return self.home / "store"

    def play(self, scenario: dict[str, Any]) -> None:
        """Write the scenario that the next server plays. JSON is YAML."""
        self.scenario.write_text(json.dumps(scenario))


@contextmanager
def place() -> Generator[Place]:
    """Create the folders, and remove them at the end."""
    root = Path(tempfile.mkdtemp(prefix="callboard-proof-"))
    try:
        yield Place(root)
    finally:
        shutil.rmtree(root, ignore_errors=True)


def environment_of(at: Place) -> dict[str, str]:
    """Return the environment of a server: this one's, without other configuration."""
    foreign = ("CALLBOARD_", "OPENAI_", "ANTHROPIC_", "GEMINI_", "GOOGLE_")
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith(foreign)},
        "CALLBOARD_HOME": str(at.home),
        "CALLBOARD_SCENARIO": str(at.scenario) if at.scenario.exists() else "",
        # Starts are measured, so they do not compile.
        "PYTHONDONTWRITEBYTECODE": "",
    }


async def second(at: Place) -> dict[str, Any]:
    """Return the output of a second start in the same home; empty if it is not ready.

    It must end without a signal.
    """
    process = await asyncio.create_subprocess_exec(
        *COMMAND,
        "--folder",
        str(at.folder),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=environment_of(at),
    )
    try:
        async with asyncio.timeout(START_S):
            output, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    milestones = [json.loads(line) for line in output.splitlines()]
    return next((milestone for milestone in milestones if milestone["event"] == "ready"), {})


class Server:
    """One process of the product.

    `wire` is its API once it is ready; `began` and `ready_at` are on the monotonic clock.
    """

    def __init__(self, process: asyncio.subprocess.Process, began: float) -> None:
        self._process = process
        self.began = began
        self.ready_at = 0.0
        self.wire = Wire("", "")
        self.pid = 0
        self.epoch = 0
        self.workspace = ""

    @classmethod
    async def start(cls, at: Place, *, sabotage: str = "", before: Sequence[str] = ()) -> Server:
        """Start a server and wait until it is ready.

        `before` is a program that starts it, `sabotage` its faults of `sabotages`.
        """
        environment = environment_of(at)
        planted = (sys.executable, str(PLANTED), sabotage) if sabotage else ()
        began = time.monotonic()
        process = await asyncio.create_subprocess_exec(
            *before,
            *planted,
            *COMMAND,
            "--folder",
            str(at.folder),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=(at.root / "stderr").open("ab"),
            env=environment,
            start_new_session=True,
            limit=1 << 20,
        )
        server = cls(process, began)
        try:
            await server._until_ready(at)
        except BaseException:
            await server.kill()
            raise
        return server

    async def kill(self) -> None:
        """Send SIGKILL to the server and its starter, and wait for their end. It can be repeated."""
        if self._process.returncode is None:
            for pid in {self.pid, self._process.pid} - {0}:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    continue
        await self.gone()

    async def stop(self) -> None:
        """Stop the server as Ctrl-C does."""
        if self._process.returncode is None:
            os.kill(self.pid, signal.SIGINT)
        await self.gone()

    async def gone(self) -> None:
        """Wait until the process has ended."""
        await self._process.wait()

    async def _until_ready(self, at: Place) -> None:
        assert self._process.stdout is not None
        async with asyncio.timeout(START_S):
            while line := await self._process.stdout.readline():
                milestone = json.loads(line)
                if milestone["event"] == "ready":
                    break
            else:
                raise AssertionError(
                    f"the server ended before it was ready: {(at.root / 'stderr').read_text()[-2000:]}"
                )
        self.ready_at = time.monotonic()
        token = json.loads((at.home / "endpoint.json").read_text())["token"]
        self.wire = Wire(milestone["url"], token)
        self.pid, self.epoch, self.workspace = milestone["pid"], milestone["epoch"], milestone["workspaceId"]
