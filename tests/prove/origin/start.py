"""The product as a person at a terminal starts it, with its browser, and all command lines
in the meantime.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import pty
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.prove.driver.product import ROOT, START_S, Place, environment_of

CHROMIUM = "/usr/bin/chromium"
_PLANTED = str(ROOT / "tests" / "prove" / "origin" / "planted.py")
#: A browser that gets its address by its command line.
_BROWSER = """#!/bin/sh
exec {chromium} --headless=new --no-sandbox --disable-gpu --no-first-run --disable-background-networking \\
    --lang=en-US --window-size=1280,900 --user-data-dir={profile} --remote-debugging-port=0 "$1" >{log} 2>&1
"""


class CommandLines:
    """Every command line that a process of the machine shows, read repeatedly, as another user's
    `ps` does.
    """

    def __init__(self) -> None:
        self.texts: set[str] = set()
        self.looks = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(0.002):
            for path in Path("/proc").glob("[0-9]*/cmdline"):
                with contextlib.suppress(OSError):
                    self.texts.add(path.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace"))
            self.looks += 1


class Started:
    """A product in a terminal. `output` is its text."""

    def __init__(self, at: Place, process: subprocess.Popen[bytes], terminal: int) -> None:
        self._at = at
        self._process = process
        self._terminal = terminal
        self.output = ""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @classmethod
    def start(cls, at: Place, *, sabotage: str, port: int, browser: bool) -> Self:
        """Start the product. With `browser` it opens its page in one."""
        starter = at.root / "browser"
        starter.write_text(_BROWSER.format(chromium=CHROMIUM, profile=profile_of(at), log=at.root / "browser.log"))
        starter.chmod(0o700)
        program = [sys.executable, _PLANTED, sabotage] if sabotage else [sys.executable, "-m", "callboard"]
        arguments = ["up", "--folder", str(at.folder), "--port", str(port), *([] if browser else ["--no-browser"])]
        master, slave = pty.openpty()
        process = subprocess.Popen(
            [*program, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=slave,
            stderr=slave,
            env={**environment_of(at), "DISPLAY": ":0", "BROWSER": f"{starter} %s", "COLUMNS": "200"},
            cwd=ROOT,
            start_new_session=True,
        )
        os.close(slave)
        return cls(at, process, master)

    async def endpoint(self) -> dict[str, Any]:
        """Return the content of its endpoint file, once it is ready."""
        until = time.monotonic() + START_S
        while "Ctrl-C stops Callboard" not in self.output:
            if self._process.poll() is not None or time.monotonic() > until:
                raise AssertionError(f"it did not start: {self.output}")
            await asyncio.sleep(0.02)
        return json.loads((self._at.home / "endpoint.json").read_text())

    async def debugger(self) -> str:
        """Return the debugging address of its browser."""
        file = profile_of(self._at) / "DevToolsActivePort"
        until = time.monotonic() + START_S
        while not (file.exists() and len(file.read_text().splitlines()) > 1):
            if time.monotonic() > until:
                raise AssertionError("it opened no browser")
            await asyncio.sleep(0.02)
        return f"http://127.0.0.1:{file.read_text().splitlines()[0]}"

    async def stop(self) -> None:
        """Stop it as Ctrl-C does, and its browser."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                await asyncio.to_thread(self._process.wait, 15)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        await asyncio.to_thread(self._process.wait)

    def _read(self) -> None:
        with contextlib.suppress(OSError):
            while data := os.read(self._terminal, 4096):
                self.output += data.decode("utf-8", "replace")


def profile_of(at: Place) -> Path:
    """Return the browser's folder."""
    return at.root / "profile"
