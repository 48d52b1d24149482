"""Commands behind their guard."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import NamedTuple

from ..shielded_wait import kill, wait_shielded
from .launch import Descriptors, Guard, Launch, Status, start_guard
from .output import Output

_PIECE = 64 * 1024
#: Seconds until an unresponsive guard is killed. Longer than the guard's own maximum.
_PATIENCE = 30.0


class CommandResult(NamedTuple):
    """Result of a command.

    Attributes:
        exit_code: None if the command was ended or did not run.
        stopped: The host ended it.
        error: The reason why it did not run.
        limit: The limit that it exceeded.
    """

    output: str
    exit_code: int | None
    stopped: bool = False
    error: str = ""
    limit: str = ""


class GuardedCommand:
    """A running command. Await `end`, or its processes run until this process ends."""

    def __init__(
        self,
        guard: Guard,
        stream_and_pipe: tuple[asyncio.StreamReader, asyncio.ReadTransport],
        output: Output,
        *,
        reports: bool,
    ) -> None:
        self._guard = guard
        self._stream, self._pipe = stream_and_pipe
        self._output = output
        self._reports = reports
        self._stopped = False
        self.output_arrived = asyncio.Event()
        self.reading = asyncio.ensure_future(self._read_all())

    def release(self) -> None:
        """Make the guard end all processes of the command."""
        was_running = not self.reading.done()
        if self._guard.release():
            self._stopped = was_running

    async def end(self) -> CommandResult:
        """End all processes of the command and return the result."""
        self.release()
        try:
            await self._wait_for_end()
            return self._to_result(self._guard.read_status())
        finally:
            self._guard.close()

    async def _read_all(self) -> None:
        while data := await self._stream.read(_PIECE):
            self._output.add(data)
            self.output_arrived.set()
        self._output.add(b"", last=True)
        self.output_arrived.set()

    async def _wait_for_end(self) -> None:
        waiting = asyncio.ensure_future(self._guard.process.wait())
        await asyncio.wait([waiting], timeout=_PATIENCE)
        if not waiting.done():
            kill(self._guard.process)
            await waiting
        # A process that could not be killed may still have the other end open.
        await asyncio.wait([self.reading], timeout=_PATIENCE)
        self.reading.cancel()
        await asyncio.wait([self.reading])
        self._pipe.close()

    def _to_result(self, status: Status) -> CommandResult:
        text = self._output.text()
        if status.limit:
            return CommandResult(text, None, limit=status.limit)
        if self._stopped:
            return CommandResult(text, None, stopped=True)
        did_run = not self._reports or status.ran is not None
        if status.error or status.exit is None or not did_run:
            return CommandResult("", None, error=status.error or text.strip() or "its guard ended")
        return CommandResult(text, status.exit)


async def start(launch: Launch, output: Output, *, source: int = -1) -> tuple[GuardedCommand, bool]:
    """Start a command with both outputs merged. Return it, and whether this task was cancelled in the meantime.

    Takes ownership of `source`, the descriptor of the command's input; -1 for none.
    """
    with Descriptors() as descriptors:
        if source >= 0:
            descriptors.adopt(source)
        # Some event loops would use a socket, which commands cannot open by name.
        output_read, output_write = descriptors.pipe()
        descriptors.release(source)
        guard, cancelled = await start_guard(launch, source=source, output=output_write)
        descriptors.release(output_read)
    try:
        stream, cancelled_again = await wait_shielded(_open_reader(output_read))
    except BaseException:
        guard.close()
        raise
    return GuardedCommand(guard, stream, output, reports=launch.reports), cancelled or cancelled_again


async def _open_reader(descriptor: int) -> tuple[asyncio.StreamReader, asyncio.ReadTransport]:
    reader = asyncio.StreamReader()
    protocol = asyncio.StreamReaderProtocol(reader)
    pipe, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, os.fdopen(descriptor, "rb", 0))
    return reader, pipe


async def run(launch: Launch, *, seconds: float, output: Callable[[str], None]) -> CommandResult:
    """Run a command without input. All its processes have ended when this returns, also after a cancellation."""
    guarded, cancelled = await start(launch, Output(output))
    try:
        if not cancelled:
            await asyncio.wait([guarded.reading], timeout=seconds)
    except asyncio.CancelledError:
        cancelled = True
    finally:
        guarded.release()
    result, cancelled_again = await wait_shielded(guarded.end())
    if cancelled or cancelled_again:
        raise asyncio.CancelledError
    return result
