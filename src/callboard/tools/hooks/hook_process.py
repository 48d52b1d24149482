"""Process of a hook, started behind the guard and ended at its timeout."""

from __future__ import annotations

import asyncio
import codecs
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..files.paths import display
from ..mcp.server_log import ServerLog
from ..sandbox.launch import Descriptors, Guard, Launch, fixed_command, start_guard
from ..shielded_wait import kill, wait_shielded

#: Maximum size of an answer, in bytes.
LARGEST = 1024 * 1024
#: Maximum length of the quoted diagnostic line, in characters.
_MOST_TOLD = 300
#: Seconds until a guard that does not end its processes is killed. Longer than its own maximum.
_PATIENCE = 30.0
_PIECE = 64 * 1024


class HookExit(NamedTuple):
    """Answer of a hook's program, or why it has none, in words that follow its name."""

    answer: bytes = b""
    problem: str = ""


class _Running:
    """A running hook behind its guard."""

    def __init__(self, guard: Guard, seconds: float, said: ServerLog) -> None:
        self._guard = guard
        self._process = guard.process
        self._seconds = seconds
        self._answer = bytearray()
        self._said = said
        self._problem = ""
        self._all = asyncio.gather(self._take(), self._diagnose(), guard.process.wait())

    async def over(self) -> None:
        """Wait until the program ends or its time is over."""
        await asyncio.wait([self._all], timeout=self._seconds)
        if not self._all.done():
            self._give_up(f"did not answer within {self._seconds:g} seconds")

    def let_go(self) -> None:
        """Make the guard end every process of the hook."""
        self._guard.release()

    async def end(self) -> HookExit:
        """End every process of the hook and return the result."""
        self.let_go()
        try:
            await asyncio.wait([self._all], timeout=_PATIENCE)
            if not self._all.done():
                kill(self._process)
                await asyncio.wait([self._all], timeout=_PATIENCE)
                self._all.cancel()
            problem = self._problem or self._how()
            return HookExit(problem=problem) if problem else HookExit(bytes(self._answer))
        finally:
            self._guard.close()

    def _give_up(self, why: str) -> None:
        self._problem = self._problem or why
        self.let_go()

    async def _take(self) -> None:
        stream = self._process.stdout
        while stream is not None and (data := await stream.read(_PIECE)):
            if self._problem:
                continue
            self._answer += data
            if len(self._answer) > LARGEST:
                self._give_up(f"answered more than {LARGEST:,} bytes")

    async def _diagnose(self) -> None:
        stream, decoder = self._process.stderr, codecs.getincrementaldecoder("utf-8")("replace")
        while stream is not None and (data := await stream.read(_PIECE)):
            self._said.add(decoder.decode(data))

    def _how(self) -> str:
        """Return how the program failed; empty if it succeeded."""
        lines = self._guard.read_status()
        error = next((one.error for one in lines if one.error), "")
        if error:
            return f"cannot be started: {display(error, _MOST_TOLD)}"
        code = next((one.exit for one in lines if one.exit is not None), None)
        if code == 0:
            return ""
        last = display(self._said.last_line(), _MOST_TOLD)
        how = "ended" if code is None else f"ended with exit code {code}"
        return f"{how}: {last}" if last else how


async def run(
    command: Sequence[str], folder: str, environment: Mapping[str, str], given: bytes, seconds: float, said: ServerLog
) -> HookExit:
    """Run a program with a text on its input and a timeout in seconds. `said` receives its
    diagnostics.

    Every process of it has ended when this returns, also after a cancellation.
    """
    try:
        running, cancelled = await _start(command, folder, environment, given, seconds, said)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        return HookExit(problem=f"cannot be started: {display(why, _MOST_TOLD)}")
    try:
        if not cancelled:
            await running.over()
    except asyncio.CancelledError:
        cancelled = True
    finally:
        running.let_go()
    ended, again = await wait_shielded(running.end())
    if cancelled or again:
        raise asyncio.CancelledError
    return ended


async def _start(
    command: Sequence[str], folder: str, environment: Mapping[str, str], given: bytes, seconds: float, said: ServerLog
) -> tuple[_Running, bool]:
    launch = Launch(fixed_command(command), folder, dict(environment), {})
    guard, cancelled = await start_guard(launch, source=_readable(given))
    return _Running(guard, seconds, said), cancelled


def _readable(given: bytes) -> int:
    """Return a descriptor with this content.

    It is not a pipe: a program need not read it, and some event loops fail then. On Linux it uses
    no disk.
    """
    with Descriptors() as ours:
        if sys.platform == "linux":
            descriptor = ours.adopt(os.memfd_create("callboard-hook"))
        else:
            with tempfile.TemporaryFile(prefix="callboard-hook-") as file:
                descriptor = ours.adopt(os.dup(file.fileno()))
        with os.fdopen(os.dup(descriptor), "wb") as file:
            file.write(given)
        os.lseek(descriptor, 0, os.SEEK_SET)
        ours.release(descriptor)
        return descriptor
