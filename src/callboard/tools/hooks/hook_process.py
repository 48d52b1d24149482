"""Processes of hooks, behind the guard and with a timeout."""

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
from ..sandbox.launch import Descriptors, Guard, Launch, make_builder, start_guard
from ..shielded_wait import kill, wait_shielded

#: Maximum size of a response, in bytes.
MAX_RESPONSE_BYTES = 1024 * 1024
#: Maximum length of the quoted diagnostic line, in characters.
_MAX_QUOTE_CHARS = 300
#: Seconds until an unresponsive guard is killed. Longer than the guard's own maximum.
_PATIENCE = 30.0
_PIECE = 64 * 1024


class HookExit(NamedTuple):
    """Response of a hook, or its problem as a verb phrase."""

    response: bytes = b""
    problem: str = ""


class _Running:
    """A running hook behind its guard."""

    def __init__(self, guard: Guard, seconds: float, log: ServerLog) -> None:
        self._guard = guard
        self._process = guard.process
        self._seconds = seconds
        self._response = bytearray()
        self._log = log
        self._problem = ""
        self._ended = asyncio.gather(self._read_response(), self._diagnose(), guard.process.wait())

    async def wait(self) -> None:
        """Wait until the program ends or the timeout."""
        await asyncio.wait([self._ended], timeout=self._seconds)
        if not self._ended.done():
            self._fail(f"did not respond within {self._seconds:g} seconds")

    def release(self) -> None:
        """Make the guard end all processes of the hook."""
        self._guard.release()

    async def end(self) -> HookExit:
        """End all processes of the hook and return the result."""
        self.release()
        try:
            await asyncio.wait([self._ended], timeout=_PATIENCE)
            if not self._ended.done():
                kill(self._process)
                await asyncio.wait([self._ended], timeout=_PATIENCE)
                self._ended.cancel()
            problem = self._problem or self._explain_failure()
            return HookExit(problem=problem) if problem else HookExit(bytes(self._response))
        finally:
            self._guard.close()

    def _fail(self, why: str) -> None:
        self._problem = self._problem or why
        self.release()

    async def _read_response(self) -> None:
        stream = self._process.stdout
        while stream is not None and (data := await stream.read(_PIECE)):
            if self._problem:
                continue
            self._response += data
            if len(self._response) > MAX_RESPONSE_BYTES:
                self._fail(f"sent more than {MAX_RESPONSE_BYTES:,} bytes")

    async def _diagnose(self) -> None:
        stream, decoder = self._process.stderr, codecs.getincrementaldecoder("utf-8")("replace")
        while stream is not None and (data := await stream.read(_PIECE)):
            self._log.add(decoder.decode(data))

    def _explain_failure(self) -> str:
        """Return why the program failed; empty if it succeeded."""
        status = self._guard.read_status()
        if status.error:
            return f"cannot start: {display(status.error, _MAX_QUOTE_CHARS)}"
        if status.exit == 0:
            return ""
        last = display(self._log.find_last_line(), _MAX_QUOTE_CHARS)
        how = "ended" if status.exit is None else f"ended with exit code {status.exit}"
        return f"{how}: {last}" if last else how


async def run(
    command: Sequence[str], folder: str, environment: Mapping[str, str], content: bytes, seconds: float, log: ServerLog
) -> HookExit:
    """Run a program with this content as input. `log` receives its diagnostics.

    All its processes have ended when this returns, also after a cancellation.
    """
    try:
        running, cancelled = await _start(command, folder, environment, content, seconds, log)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        return HookExit(problem=f"cannot start: {display(why, _MAX_QUOTE_CHARS)}")
    try:
        if not cancelled:
            await running.wait()
    except asyncio.CancelledError:
        cancelled = True
    finally:
        running.release()
    result, cancelled_again = await wait_shielded(running.end())
    if cancelled or cancelled_again:
        raise asyncio.CancelledError
    return result


async def _start(
    command: Sequence[str], folder: str, environment: Mapping[str, str], content: bytes, seconds: float, log: ServerLog
) -> tuple[_Running, bool]:
    launch = Launch(make_builder(command), folder, dict(environment), {})
    guard, cancelled = await start_guard(launch, source=_open_input(content))
    return _Running(guard, seconds, log), cancelled


def _open_input(content: bytes) -> int:
    """Return a descriptor of a file with this content, in memory on Linux.

    Some event loops fail if a program does not read a pipe.
    """
    with Descriptors() as descriptors:
        if sys.platform == "linux":
            descriptor = descriptors.adopt(os.memfd_create("callboard-hook"))
        else:
            with tempfile.TemporaryFile(prefix="callboard-hook-") as file:
                descriptor = descriptors.adopt(os.dup(file.fileno()))
        with os.fdopen(os.dup(descriptor), "wb") as file:
            file.write(content)
        os.lseek(descriptor, 0, os.SEEK_SET)
        descriptors.release(descriptor)
        return descriptor
