"""Starts a command behind its guard, and holds what keeps it alive."""

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
#: Pipes that starting a process opens at most: input, output, errors, and the one that reports a failed exec.
_PIPES_OF_A_START = 4
#: The longest line that is read of a command's outputs, in bytes.
LONGEST_LINE = 64 * 1024


class Launch(NamedTuple):
    """How a command is started. `command` makes the command line, given the descriptor on which bubblewrap is to report; with
    `reports` it must, and what it does not report as run was not run. `handed` are descriptors that the command gets, `bounds`
    what its guard keeps it to."""

    command: Callable[[int], Sequence[str]]
    folder: str
    environment: dict[str, str]
    bounds: dict[str, int]
    descriptors: Sequence[int] = ()
    reports: bool = False


def fixed_command(command: Sequence[str]) -> Callable[[int], Sequence[str]]:
    """A command line in which nothing reports."""

    def made(_: int) -> Sequence[str]:
        return command

    return made


class Status(msgspec.Struct, frozen=True):
    """A line of status, the guard's or bubblewrap's."""

    exit: int | None = None
    error: str = ""
    limit: str = ""
    ran: int | None = msgspec.field(default=None, name="exit-code")


class Descriptors(AbstractContextManager["Descriptors"]):
    """What was opened on the way to something: closed at the end of the block, but for what is kept."""

    def __init__(self) -> None:
        self._open: set[int] = set()

    def pipe(self) -> tuple[int, int]:
        """Its two ends, to read from and to write to. Raises OSError."""
        ends = os.pipe()
        self._open.update(ends)
        return ends

    def adopt(self, descriptor: int) -> int:
        """One that was opened elsewhere."""
        self._open.add(descriptor)
        return descriptor

    def release(self, *descriptors: int) -> None:
        """These have another owner from here on."""
        self._open.difference_update(descriptors)

    def __exit__(self, *_: object) -> None:
        while self._open:
            os.close(self._open.pop())


class Guard:
    """The guard of a command that was started, which goes on until this lets go of it or it ends by itself."""

    def __init__(self, process: asyncio.subprocess.Process, hold: int, told: int) -> None:
        self.process = process
        self._hold = hold
        self._told = told

    def release(self) -> bool:
        """Has the guard end the command with all that came of it. False where that was done before."""
        if self._hold < 0:
            return False
        os.close(self._hold)
        self._hold = -1
        return True

    def read_status(self) -> list[Status]:
        """What was told of how the command ended; it is told once."""
        os.set_blocking(self._told, False)
        data = b""
        with contextlib.suppress(BlockingIOError):
            while piece := os.read(self._told, _PIECE):
                data += piece
        return [msgspec.json.decode(line, type=Status) for line in data.splitlines() if line.strip()]

    def close(self) -> None:
        """Lets go of all that is left."""
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
    """Starts a command in its folder, and whether this task was cancelled meanwhile. It reads from the descriptor `given`,
    which is taken over whatever comes of this, or from nothing; both its outputs go to `prints`. `limit` is the longest line
    that is read of them, in bytes. Raises OSError, ValueError."""
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
