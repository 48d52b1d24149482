"""The host's side of a command: start, output and end."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import NamedTuple

from ..shielded_wait import kill, wait_shielded
from .launch import Descriptors, Guard, Launch, Status, start_guard
from .output import Output

_PIECE = 64 * 1024
#: Seconds until a guard that does not end its processes is killed. Longer than its own maximum.
_PATIENCE = 30.0


class CommandResult(NamedTuple):
    """Result of a command.

    Attributes:
        exit_code: None if the command did not end by itself.
        stopped: The host ended it.
        error: Why it did not run.
        limit: The limit that it exceeded.
    """

    output: str
    exit_code: int | None
    stopped: bool = False
    error: str = ""
    limit: str = ""


class GuardedCommand:
    """A running command behind its guard. Await `end`, or its processes run until this process ends."""

    def __init__(
        self,
        guard: Guard,
        printed: tuple[asyncio.StreamReader, asyncio.ReadTransport],
        output: Output,
        *,
        reports: bool,
    ) -> None:
        self._guard = guard
        self._stream, self._pipe = printed
        self._output = output
        self._reports = reports
        self._asked = False
        self.output_arrived = asyncio.Event()
        self.reading = asyncio.ensure_future(self._take_all())

    def release(self) -> None:
        """Make the guard end every process of the command."""
        asked = not self.reading.done()
        if self._guard.release():
            self._asked = asked

    async def end(self) -> CommandResult:
        """End every process of the command and return the result."""
        self.release()
        try:
            await self._ended()
            return self._outcome(self._guard.read_status())
        finally:
            self._guard.close()

    async def _take_all(self) -> None:
        while data := await self._stream.read(_PIECE):
            self._output.add(data)
            self.output_arrived.set()
        self._output.add(b"", last=True)
        self.output_arrived.set()

    async def _ended(self) -> None:
        waiting = asyncio.ensure_future(self._guard.process.wait())
        await asyncio.wait([waiting], timeout=_PATIENCE)
        if not waiting.done():
            kill(self._guard.process)
            await waiting
        # A process that could not be killed may still hold the other end.
        await asyncio.wait([self.reading], timeout=_PATIENCE)
        self.reading.cancel()
        await asyncio.wait([self.reading])
        self._pipe.close()

    def _outcome(self, found: list[Status]) -> CommandResult:
        limit = next((one.limit for one in found if one.limit), "")
        if limit:
            return CommandResult(self._output.text(), None, limit=limit)
        if self._asked:
            return CommandResult(self._output.text(), None, stopped=True)
        error = next((one.error for one in found if one.error), "")
        code = next((one.exit for one in found if one.exit is not None), None)
        ran = not self._reports or any(one.ran is not None for one in found)
        if error or code is None or not ran:
            text = self._output.text()
            return CommandResult("", None, error=error or text.strip() or "the guard of the command ended")
        return CommandResult(self._output.text(), code)


async def start(launch: Launch, output: Output, *, source: int = -1) -> tuple[GuardedCommand, bool]:
    """Start a command in its folder with both outputs merged in order.

    Args:
        source: Descriptor of its input, which is taken over; -1 for none.
    Returns:
        The command, and whether this task was cancelled meanwhile.
    """
    with Descriptors() as ours:
        if source >= 0:
            ours.adopt(source)
        # Some event loops would use a socket, which no command can open by its name.
        printed, prints = ours.pipe()
        ours.release(source)
        guard, cancelled = await start_guard(launch, given=source, prints=prints)
        ours.release(printed)
    try:
        stream, again = await wait_shielded(_reader(printed))
    except BaseException:
        guard.close()
        raise
    return GuardedCommand(guard, stream, output, reports=launch.reports), cancelled or again


async def _reader(descriptor: int) -> tuple[asyncio.StreamReader, asyncio.ReadTransport]:
    reader = asyncio.StreamReader()
    protocol = asyncio.StreamReaderProtocol(reader)
    pipe, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, os.fdopen(descriptor, "rb", 0))
    return reader, pipe


async def run(launch: Launch, *, seconds: float, output: Callable[[str], None]) -> CommandResult:
    """Run a command without input and with a timeout in seconds.

    Every process of it has ended when this returns, also after a cancellation.
    """
    guarded, cancelled = await start(launch, Output(output))
    try:
        if not cancelled:
            await asyncio.wait([guarded.reading], timeout=seconds)
    except asyncio.CancelledError:
        cancelled = True
    finally:
        guarded.release()
    ran, again = await wait_shielded(guarded.end())
    if cancelled or again:
        raise asyncio.CancelledError
    return ran
