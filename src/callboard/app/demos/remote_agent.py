"""Process of a demo's remote agent."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import threading
from pathlib import Path

from callboard.contracts.errors import Refusal
from callboard.runtime.workspaces.installation import build_install_command

#: Packages that the process requires.
NEEDED = ("a2a", "sse_starlette")
_ADDRESS = re.compile(r"^url: .*$", re.MULTILINE)


class RemoteShop:
    """Start the process on demand. It exits when its standard input closes, with this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._url = ""

    def ensure_started(self) -> str:
        """Return its address. Blocks while it starts. Raises Refusal `not_installed`, `invalid_input`."""
        with self._lock:
            if self._process is None or self._process.poll() is not None:
                self._start()
            return self._url

    def _start(self) -> None:
        if any(importlib.util.find_spec(package) is None for package in NEEDED):
            message = "This demo needs a remote agent, and A2A is not installed."
            raise Refusal(
                "not_installed", message, hint=f"Run {build_install_command('a2a')}\nThen start the demo again."
            )
        # Exclude the working folder from the path, and protect the process from a Ctrl-C for this one.
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "callboard.app.demos.printshop"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        line = self._process.stdout.readline() if self._process.stdout is not None else ""
        self._url = line.strip()
        if not self._url:
            self._process.kill()
            self._process.wait()
            self._process = None
            message = "The remote agent of the demo did not start."
            raise Refusal(
                "invalid_input", message, field="name", hint="Its last output is in the terminal where Callboard runs."
            )


def write_address(folder: Path, agent: str, url: str) -> None:
    """Write the address into the agent's file."""
    path = folder / "agents" / f"{agent}.md"
    path.write_text(_ADDRESS.sub(f"url: {url}", path.read_text("utf-8"), count=1), "utf-8")
