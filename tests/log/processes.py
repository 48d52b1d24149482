"""Real child processes of tests."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]


class Child:
    """A process that runs `tests.log.child`. `epoch` is the epoch of its store."""

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
        """Return the words of the next printed line; empty after the end of the process."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().split()

    def kill(self) -> list[list[str]]:
        """Kill the process and return the complete unread lines."""
        assert self.process.stdout is not None
        self.process.kill()
        # Read through the same reader as before: `communicate` would start after the bytes that it
        # has buffered, within a line.
        rest = self.process.stdout.readlines()
        self.process.wait()
        return [line.split() for line in rest if line.endswith("\n")]

    def end(self) -> int:
        """Request the end of the process and return its exit code."""
        self.process.communicate(timeout=60)
        return self.process.returncode


@contextmanager
def child(mode: str, folder: Path, **environment: str) -> Iterator[Child]:
    """Yield a child that ends with the test."""
    running = Child(mode, folder, **environment)
    try:
        yield running
    finally:
        if running.process.poll() is None:
            running.kill()
        for pipe in (running.process.stdin, running.process.stdout):
            if pipe is not None:
                pipe.close()
