"""Processes of the bench, which exchange lines of JSON."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any, Self

ROOT = Path(__file__).resolve().parents[2]
#: Seconds that an order to a process may take.
PATIENCE = 120.0
_MAX_LINE_BYTES = 64 * 1024 * 1024


class Process:
    """A process that reads orders and writes answers, one JSON text per line. Failures include its stderr.

    Use it as an async context manager: at the end its input is closed, and it ends.
    """

    def __init__(self, *command: str, cwd: Path = ROOT, environment: dict[str, str] | None = None) -> None:
        self._command = command
        self._cwd = cwd
        self._environment = {**os.environ, "PYTHONPATH": str(ROOT), **(environment or {})}

    async def __aenter__(self) -> Self:
        pipe = asyncio.subprocess.PIPE
        self._process = await asyncio.create_subprocess_exec(
            *self._command,
            cwd=self._cwd,
            env=self._environment,
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            limit=_MAX_LINE_BYTES,
        )
        self._errors = asyncio.create_task(self._stream("stderr").read())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            async with asyncio.timeout(10):
                await self._process.wait()
        except TimeoutError:
            self._process.kill()
            await self._process.wait()
        await self._errors

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def running(self) -> bool:
        return self._process.returncode is None

    def kill(self) -> None:
        """Kill the process without warning, as a power failure would."""
        self._process.kill()

    def stop(self) -> None:
        """Request the end of the process."""
        self._process.terminate()

    async def ended(self) -> int:
        """Wait for the end; return the exit code."""
        return await self._process.wait()

    async def read_line(self) -> Any:
        """Return the next line, decoded. Raises RuntimeError with its stderr if there is none."""
        async with asyncio.timeout(PATIENCE):
            line = await self._stream("stdout").readline()
            if not line:
                errors = (await self._errors).decode(errors="replace")
                raise RuntimeError(f"{' '.join(self._command[:4])} ended: {errors[-2000:]}")
        return json.loads(line)

    async def ask(self, **order: Any) -> Any:
        """Send an order; return the answer."""
        if self._process.stdin is None:
            raise RuntimeError("the process takes no orders")
        self._process.stdin.write(json.dumps(order).encode() + b"\n")
        await self._process.stdin.drain()
        return await self.read_line()

    def _stream(self, name: str) -> asyncio.StreamReader:
        stream: asyncio.StreamReader = getattr(self._process, name)
        return stream


def python(module: str, *arguments: str) -> tuple[str, ...]:
    """Return the command that runs a module of the bench."""
    return (sys.executable, "-m", module, *arguments)


def counting_syncs(trace: Path, command: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return the command under strace, which writes one line per sync; None without strace."""
    strace = shutil.which("strace")
    if strace is None:
        return None
    return (strace, "-f", "-qq", "--seccomp-bpf", "-o", str(trace), "-e", "trace=fsync,fdatasync", *command)


def syncs(trace: Path) -> int:
    """Return the number of syncs so far."""
    return sum("fsync(" in line or "fdatasync(" in line for line in trace.read_text().splitlines())
