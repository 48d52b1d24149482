"""Real processes beside the test's own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]


class Child:
    """A process that runs `tests.log.child`. `epoch` is the one that it opened the store with."""

    def __init__(self, mode: str, folder: Path, **environment: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.log.child", mode, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**os.environ, **environment},
        )
        word, epoch = self.line()
        assert word == "ready"
        self.epoch = int(epoch)

    def line(self) -> list[str]:
        """The next line that the process prints, in words; empty once it has ended."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().split()

    def kill(self) -> list[list[str]]:
        """Kills the process, and returns the whole lines that it had printed and nobody had read."""
        assert self.process.stdout is not None
        self.process.kill()
        # From the same reader as the lines before: `communicate` would begin behind what that one holds, within a line.
        rest = self.process.stdout.readlines()
        self.process.wait()
        return [line.split() for line in rest if line.endswith("\n")]

    def end(self) -> int:
        """Asks the process to end; returns its exit code."""
        self.process.communicate(timeout=60)
        return self.process.returncode


@contextmanager
def child(mode: str, folder: Path, **environment: str) -> Iterator[Child]:
    """A child that does not outlive the test."""
    running = Child(mode, folder, **environment)
    try:
        yield running
    finally:
        if running.process.poll() is None:
            running.kill()
        for pipe in (running.process.stdin, running.process.stdout):
            if pipe is not None:
                pipe.close()
