"""The product for tests: `callboard` with a temporary state folder and project folder.

A command line that ends runs in this process; servers and terminals are processes.
"""

from __future__ import annotations

import codecs
import io
import os
import pty
import queue
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, chdir, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import msgspec
import yaml

from callboard.app.cli.main import main
from tests.prove.driver import store

SAMPLE = Path(__file__).resolve().parents[3] / "examples" / "sample"
#: Seconds to wait for any expected event.
PATIENCE = 60.0
#: Makes the terminal the controlling one, so that Ctrl-C works, and executes the product.
_IN_A_TERMINAL = (
    "import fcntl, runpy, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0);"
    "runpy.run_module('callboard', run_name='__main__', alter_sys=True)"
)


@dataclass(frozen=True)
class Done:
    """The result of a command line."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> list[dict[str, Any]]:
        """The JSON lines of the standard output."""
        return [msgspec.json.decode(line) for line in self.out.splitlines()]


@dataclass
class Product:
    """One person's Callboard."""

    place: Path
    variables: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.folder.exists():
            shutil.copytree(SAMPLE, self.folder)

    @property
    def home(self) -> Path:
        return self.place / "home"

    @property
    def folder(self) -> Path:
        return self.place / "work"

    def plays(self, scenario: Mapping[str, Any]) -> Product:
        """Play this scenario as the model."""
        path = self.place / "scenario.yaml"
        path.write_text(yaml.safe_dump(dict(scenario)))
        self.variables["CALLBOARD_SCENARIO"] = str(path)
        return self

    def environment(self) -> dict[str, str]:
        """Return the environment of a process, without variables that affect the test."""
        foreign = (
            "CALLBOARD_",
            "OPENAI_",
            "ANTHROPIC_",
            "GEMINI_",
            "GOOGLE_",
            "DISPLAY",
            "WAYLAND_",
            "PYTHONDONTWRITEBYTECODE",
        )
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
        more = {"CALLBOARD_HOME": str(self.home), "CALLBOARD_PORT": "0", "TERM": "xterm", "COLUMNS": "120"}
        return {**inherited, **more, **self.variables}

    def run(self, *arguments: str, stdin: str = "") -> Done:
        """Run a command line in this process, without a terminal."""
        out, err = io.StringIO(), io.StringIO()
        with ExitStack() as as_if:
            as_if.enter_context(mock.patch.dict(os.environ, self.environment(), clear=True))
            as_if.enter_context(mock.patch("sys.stdin", io.StringIO(stdin)))
            as_if.enter_context(chdir(self.folder))
            as_if.enter_context(redirect_stdout(out))
            as_if.enter_context(redirect_stderr(err))
            code = main([*arguments])
        return Done(code, out.getvalue(), err.getvalue())

    def until_kept(self, text: str) -> None:
        """Wait until the store has this partial text."""
        until = time.monotonic() + PATIENCE
        while not any(text in part.text for part in store.read(self.home / "store").partials):
            assert time.monotonic() < until, f"nothing was kept of the text within {PATIENCE} s"
            time.sleep(0.05)

    @contextmanager
    def started(self, *arguments: str) -> Iterator[Running]:
        """Start a process; kill it at the end if it still runs."""
        running = Running(
            subprocess.Popen(
                command(*arguments),
                cwd=self.folder,
                env=self.environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
        try:
            yield running
        finally:
            running.close()

    @contextmanager
    def up(self, *arguments: str) -> Iterator[tuple[Running, dict[str, Any]]]:
        """Run a server; yield it with its `ready` milestone."""
        with self.started("up", "--json", *arguments) as running:
            yield running, running.milestone("ready")

    @contextmanager
    def terminal(self, *arguments: str) -> Iterator[Terminal]:
        """Start a process whose standard streams are a terminal."""
        terminal = Terminal(arguments, self.folder, self.environment())
        try:
            yield terminal
        finally:
            terminal.close()


class Running:
    """A running process and its output lines."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.errors: list[str] = []
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._threads = [
            threading.Thread(target=self._read_out, daemon=True),
            threading.Thread(target=self._read_err, daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def line(self) -> str | None:
        """Return the next line of the standard output; None at its end."""
        try:
            return self._lines.get(timeout=PATIENCE)
        except queue.Empty:
            raise AssertionError(f"nothing was printed for {PATIENCE} s; errors: {self.errors}") from None

    def milestone(self, event: str) -> dict[str, Any]:
        """Return the next milestone of this name."""
        while (line := self.line()) is not None:
            milestone: dict[str, Any] = msgspec.json.decode(line)
            if milestone.get("event", milestone.get("type")) == event:
                return milestone
        raise AssertionError(f"ended with {self.process.wait()} before {event}; errors: {self.errors}")

    def rest(self) -> list[str]:
        """Return the remaining lines."""
        lines: list[str] = []
        while (line := self.line()) is not None:
            lines.append(line)
        return lines

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def wait(self) -> int:
        """Wait for the end; return the exit code."""
        return self.process.wait(timeout=PATIENCE)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for thread in self._threads:
            thread.join()
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()

    def _read_out(self) -> None:
        for line in self.process.stdout or ():
            self._lines.put(line.rstrip("\n"))
        self._lines.put(None)

    def _read_err(self) -> None:
        for line in self.process.stderr or ():
            self.errors.append(line.rstrip("\n"))


class Terminal:
    """A process in a new terminal, and its output."""

    def __init__(self, arguments: tuple[str, ...], folder: Path, environment: dict[str, str]) -> None:
        self.output = ""
        # A multi-byte character may arrive in two pieces.
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._master, slave = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-c", _IN_A_TERMINAL, *arguments],
            cwd=folder,
            env=environment,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        )
        os.close(slave)
        self._pieces: queue.Queue[bytes] = queue.Queue()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def until(self, text: str) -> str:
        """Wait for a text; return the output since the last call."""
        until = time.monotonic() + PATIENCE
        while text not in self.output:
            try:
                piece = self._pieces.get(timeout=max(0.0, until - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"{text!r} was not shown within {PATIENCE} s: {self.output!r}") from None
            if not piece:
                raise AssertionError(f"{text!r} was not shown: {self.output!r}")
            self.output += self._decoder.decode(piece)
        before, _, self.output = self.output.partition(text)
        return before + text

    def send(self, text: str) -> None:
        """Type a text."""
        os.write(self._master, text.encode())

    def wait(self) -> int:
        """Wait for the end of the output; return the exit code."""
        code = self.process.wait(timeout=PATIENCE)
        while piece := self._pieces.get(timeout=PATIENCE):
            self.output += self._decoder.decode(piece)
        return code

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self._thread.join()
        os.close(self._master)

    def _read(self) -> None:
        try:
            while piece := os.read(self._master, 65536):
                self._pieces.put(piece)
        except OSError:
            pass  # The last process of the terminal has ended.
        self._pieces.put(b"")


def command(*arguments: str) -> list[str]:
    """Return the command line that starts `callboard`."""
    return [sys.executable, "-m", "callboard", *arguments]


def says(text: str, **how: Any) -> list[dict[str, Any]]:
    """Return a model call that answers with a text."""
    return [{"text": text, **how}]


def uses(tool: str, text: str = "", **arguments: Any) -> list[dict[str, Any]]:
    """Return a model call that calls a tool, optionally after a text."""
    parts = [{"text": text}] if text else []
    return [*parts, {"tool": {"name": tool, "arguments": arguments}}]
