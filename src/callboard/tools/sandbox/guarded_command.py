"""The host's side of a command: starts it behind its guard, takes its output, and ends all of it in time."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import NamedTuple

from ..shielded_wait import kill, wait_shielded
from .launch import Descriptors, Guard, Launch, Status, start_guard
from .output import Output

_PIECE = 64 * 1024
#: How long the guard may take to end a tree before it is ended itself, in seconds; longer than it takes at the most.
_PATIENCE = 30.0


class CommandResult(NamedTuple):
    """What a command came to. `exit_code` is None where it did not end by itself; then `error` says why it did not even run,
    `limit` which limit it was over, or `stopped` is set."""

    output: str
    exit_code: int | None
    stopped: bool = False
    error: str = ""
    limit: str = ""


class GuardedCommand:
    """A command under way behind its guard. `end` must be awaited, or everything that came of it goes on until this process
    ends."""

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
        self.came = asyncio.Event()
        self.reading = asyncio.ensure_future(self._take_all())

    def let_go(self) -> None:
        """Has the guard end the command with all that came of it, if it has not ended by itself."""
        asked = not self.reading.done()
        if self._guard.release():
            self._asked = asked

    async def end(self) -> CommandResult:
        """Lets go and waits until nothing of the command is left: what it came to."""
        self.let_go()
        try:
            await self._ended()
            return self._outcome(self._guard.read_status())
        finally:
            self._guard.close()

    async def _take_all(self) -> None:
        while data := await self._stream.read(_PIECE):
            self._output.take(data)
            self.came.set()
        self._output.take(b"", last=True)
        self.came.set()

    async def _ended(self) -> None:
        waiting = asyncio.ensure_future(self._guard.process.wait())
        await asyncio.wait([waiting], timeout=_PATIENCE)
        if not waiting.done():
            kill(self._guard.process)
            await waiting
        # Something that could not be killed may still hold the other end.
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
    """Starts a command in its folder, both outputs merged in their order, and whether this task was cancelled meanwhile. It
    reads from the descriptor `source`, which is taken over, or from nothing."""
    with Descriptors() as ours:
        if source >= 0:
            ours.adopt(source)
        # A pipe of our own: some event loops would take a socket, which no command can open by its name.
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
    """Runs a command with nothing on its input, for so many seconds at most. Whatever came of it is dead when this returns,
    also where the task is cancelled."""
    guarded, cancelled = await start(launch, Output(output))
    try:
        if not cancelled:
            await asyncio.wait([guarded.reading], timeout=seconds)
    except asyncio.CancelledError:
        cancelled = True
    finally:
        guarded.let_go()
    ran, again = await wait_shielded(guarded.end())
    if cancelled or again:
        raise asyncio.CancelledError
    return ran
