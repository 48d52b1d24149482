"""Starts of commands behind a guard."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple

import msgspec

from ..shielded_wait import wait_shielded

_GUARD = str(Path(__file__).with_name("guard.py"))
_PIECE = 64 * 1024
#: Maximum number of pipes of a start: input, output, errors, and the report of a failed exec.
_MAX_PIPES_PER_START = 4
#: Maximum length of an output line, in bytes.
MAX_LINE_BYTES = 64 * 1024


class Launch(NamedTuple):
    """Parameters of a start.

    Attributes:
        command: Builds the command line from the descriptor on which bubblewrap reports.
        bounds: Limits that the guard enforces.
        descriptors: Descriptors that the command inherits.
        reports: True if bubblewrap reports. A command without a report did not run.
    """

    command: Callable[[int], Sequence[str]]
    folder: str
    environment: dict[str, str]
    bounds: dict[str, int]
    descriptors: Sequence[int] = ()
    reports: bool = False


def make_builder(command: Sequence[str]) -> Callable[[int], Sequence[str]]:
    """Return a builder for a command line without reports."""

    def build(_: int) -> Sequence[str]:
        return command

    return build


class Status(msgspec.Struct, frozen=True):
    """Status from the guard and from bubblewrap."""

    exit: int | None = None
    error: str = ""
    limit: str = ""
    ran: int | None = msgspec.field(default=None, name="exit-code")


class Descriptors(AbstractContextManager["Descriptors"]):
    """Open descriptors, closed at the end of the block unless released."""

    def __init__(self) -> None:
        self._open: set[int] = set()

    def pipe(self) -> tuple[int, int]:
        """Open a pipe. Return its read end and write end. Raises OSError."""
        ends = os.pipe()
        self._open.update(ends)
        return ends

    def adopt(self, descriptor: int) -> int:
        """Add a descriptor."""
        self._open.add(descriptor)
        return descriptor

    def release(self, *descriptors: int) -> None:
        """Transfer these descriptors to another owner."""
        self._open.difference_update(descriptors)

    def __exit__(self, *_: object) -> None:
        while self._open:
            os.close(self._open.pop())


class Guard:
    """Guard of a command, until it is released or the command ends."""

    def __init__(self, process: asyncio.subprocess.Process, release_pipe: int, status_pipe: int) -> None:
        self.process = process
        self._release_pipe = release_pipe
        self._status_pipe = status_pipe

    def release(self) -> bool:
        """Make the guard end all processes of the command. Return False if it was released before."""
        if self._release_pipe < 0:
            return False
        os.close(self._release_pipe)
        self._release_pipe = -1
        return True

    def read_status(self) -> Status:
        """Return the status lines as one, of which the first line with a field decides. They can be read once."""
        os.set_blocking(self._status_pipe, False)
        data = b""
        with contextlib.suppress(BlockingIOError):
            while piece := os.read(self._status_pipe, _PIECE):
                data += piece
        fields: dict[str, object] = {}
        for line in filter(bytes.strip, data.splitlines()):
            fields = msgspec.json.decode(line, type=dict[str, object]) | fields
        return msgspec.convert(fields, Status)

    def close(self) -> None:
        """Release the guard and close its descriptors."""
        self.release()
        os.close(self._status_pipe)


def _require_free_descriptors() -> None:
    """Raise OSError if too few descriptors are free to start a process.

    Until Python 3.11.4 `subprocess.Popen` leaks its first pipes if it cannot open the next one.
    """
    with Descriptors() as spare:
        for _ in range(_MAX_PIPES_PER_START):
            spare.pipe()


async def start_guard(
    launch: Launch, *, source: int = -1, output: int = asyncio.subprocess.PIPE, limit: int = MAX_LINE_BYTES
) -> tuple[Guard, bool]:
    """Start a command in its folder.

    Args:
        source: Descriptor of the command's input, always closed here; -1 for none.
        output: Target of both outputs.
        limit: Maximum length of an output line, in bytes.
    Returns:
        The guard, and whether this task was cancelled in the meantime.
    Raises:
        OSError, ValueError: The command could not start.
    """
    with Descriptors() as descriptors:
        bounds: dict[str, object] = dict(launch.bounds)
        if source >= 0:
            bounds["input"] = descriptors.adopt(source)
        guard_input, release_pipe = descriptors.pipe()
        status_read, status_write = descriptors.pipe()
        report = descriptors.adopt(os.dup(status_write)) if launch.reports else -1
        _require_free_descriptors()
        bounds["keep"] = keep = [*launch.descriptors, *([report] if launch.reports else [])]
        process, cancelled = await wait_shielded(
            asyncio.create_subprocess_exec(
                sys.executable,
                *("-I", "-S", _GUARD, str(status_write), msgspec.json.encode(bounds).decode(), *launch.command(report)),
                stdin=guard_input,
                stdout=output,
                stderr=output,
                cwd=launch.folder,
                env=launch.environment,
                start_new_session=True,
                limit=limit,
                pass_fds=[status_write, *keep, *([source] if source >= 0 else [])],
            )
        )
        descriptors.release(release_pipe, status_read)
        return Guard(process, release_pipe, status_read), cancelled
