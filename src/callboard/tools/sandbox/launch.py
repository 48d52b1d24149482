"""Start of a command behind its guard."""

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
#: Maximum number of pipes that a start opens: input, output, errors, and the report of a failed
#: exec.
_PIPES_OF_A_START = 4
#: Longest line that is read of a command's outputs, in bytes.
LONGEST_LINE = 64 * 1024


class Launch(NamedTuple):
    """How a command is started.

    Attributes:
        command: Builds the command line, given the descriptor on which bubblewrap reports.
        bounds: Limits that the guard enforces.
        descriptors: Descriptors that the command inherits.
        reports: True if bubblewrap reports. Then a command without a report did not run.
    """

    command: Callable[[int], Sequence[str]]
    folder: str
    environment: dict[str, str]
    bounds: dict[str, int]
    descriptors: Sequence[int] = ()
    reports: bool = False


def fixed_command(command: Sequence[str]) -> Callable[[int], Sequence[str]]:
    """Return a builder for a command line without reports."""

    def made(_: int) -> Sequence[str]:
        return command

    return made


class Status(msgspec.Struct, frozen=True):
    """A status line of the guard or of bubblewrap."""

    exit: int | None = None
    error: str = ""
    limit: str = ""
    ran: int | None = msgspec.field(default=None, name="exit-code")


class Descriptors(AbstractContextManager["Descriptors"]):
    """Open descriptors. Closed at the end of the block unless released."""

    def __init__(self) -> None:
        self._open: set[int] = set()

    def pipe(self) -> tuple[int, int]:
        """Open a pipe. Return its read end and its write end. Raises OSError."""
        ends = os.pipe()
        self._open.update(ends)
        return ends

    def adopt(self, descriptor: int) -> int:
        """Close this descriptor too."""
        self._open.add(descriptor)
        return descriptor

    def release(self, *descriptors: int) -> None:
        """Leave these descriptors to another owner."""
        self._open.difference_update(descriptors)

    def __exit__(self, *_: object) -> None:
        while self._open:
            os.close(self._open.pop())


class Guard:
    """Guard of a started command. It runs until it is released or the command ends."""

    def __init__(self, process: asyncio.subprocess.Process, hold: int, told: int) -> None:
        self.process = process
        self._hold = hold
        self._told = told

    def release(self) -> bool:
        """Make the guard end every process of the command. Return False if that was done before."""
        if self._hold < 0:
            return False
        os.close(self._hold)
        self._hold = -1
        return True

    def read_status(self) -> list[Status]:
        """Return the status lines. They can be read once."""
        os.set_blocking(self._told, False)
        data = b""
        with contextlib.suppress(BlockingIOError):
            while piece := os.read(self._told, _PIECE):
                data += piece
        return [msgspec.json.decode(line, type=Status) for line in data.splitlines() if line.strip()]

    def close(self) -> None:
        """Release the guard and close what is open."""
        self.release()
        os.close(self._told)


def _require_free_descriptors() -> None:
    """Raise OSError if too few descriptors are free to start a process.

    Until Python 3.11.4 `subprocess.Popen` leaves its first pipes open when it cannot open the next one.
    """
    with Descriptors() as spare:
        for _ in range(_PIPES_OF_A_START):
            spare.pipe()


async def start_guard(
    launch: Launch, *, given: int = -1, prints: int = asyncio.subprocess.PIPE, limit: int = LONGEST_LINE
) -> tuple[Guard, bool]:
    """Start a command in its folder.

    Args:
        given: Descriptor of the command's input, closed in every case; -1 for none.
        prints: Where both outputs go.
        limit: Longest line that is read of the outputs, in bytes.
    Returns:
        The guard, and whether this task was cancelled meanwhile.
    Raises:
        OSError, ValueError: The command could not start.
    """
    with Descriptors() as ours:
        bounds: dict[str, object] = dict(launch.bounds)
        if given >= 0:
            bounds["input"] = ours.adopt(given)
        held, hold = ours.pipe()
        told, tell = ours.pipe()
        report = ours.adopt(os.dup(tell)) if launch.reports else -1
        _require_free_descriptors()
        bounds["keep"] = kept = [*launch.descriptors, *([report] if launch.reports else [])]
        process, cancelled = await wait_shielded(
            asyncio.create_subprocess_exec(
                sys.executable,
                *("-I", "-S", _GUARD, str(tell), msgspec.json.encode(bounds).decode(), *launch.command(report)),
                stdin=held,
                stdout=prints,
                stderr=prints,
                cwd=launch.folder,
                env=launch.environment,
                start_new_session=True,
                limit=limit,
                pass_fds=[tell, *kept, *([given] if given >= 0 else [])],
            )
        )
        ours.release(hold, told)
        return Guard(process, hold, told), cancelled
