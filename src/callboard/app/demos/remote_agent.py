"""The agent elsewhere of a demo: started as a process of its own, and ended with the process that started it."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import threading
from pathlib import Path

from callboard.contracts.errors import Refusal
from callboard.runtime.workspaces.installation import install_command

#: What the process needs beside Callboard.
NEEDED = ("a2a", "sse_starlette")
_ADDRESS = re.compile(r"^url: .*$", re.MULTILINE)


class RemoteShop:
    """Starts the process when it is wanted first, and again where it ended. It ends when its input does: with this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._url = ""

    def url(self) -> str:
        """Where it is. Blocks while it starts. Raises Refusal `not_installed`, `invalid_input`."""
        with self._lock:
            if self._process is None or self._process.poll() is not None:
                self._start()
            return self._url

    def _start(self) -> None:
        if any(importlib.util.find_spec(one) is None for one in NEEDED):
            message = "This demo has an agent elsewhere, and A2A is not installed here."
            raise Refusal(
                "not_installed", message, hint=f"In a terminal: {install_command('a2a')}\nThen start the demo again."
            )
        # Without the folder that this process is in on its path, and out of reach of a Ctrl-C that is meant for this process.
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "callboard.app.demos.printshop"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        said = self._process.stdout.readline() if self._process.stdout is not None else ""
        self._url = said.strip()
        if not self._url:
            self._process.kill()
            self._process.wait()
            self._process = None
            message = "The demo's agent elsewhere did not start."
            raise Refusal(
                "invalid_input", message, field="name", hint="What it wrote last is above, where Callboard runs."
            )


def write_address(folder: Path, agent: str, url: str) -> None:
    """Writes the address into the agent's file."""
    path = folder / "agents" / f"{agent}.md"
    path.write_text(_ADDRESS.sub(f"url: {url}", path.read_text("utf-8"), count=1), "utf-8")
