"""Background commands."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress

import msgspec

from callboard.contracts.errors import Refusal
from callboard.contracts.ports.processes import Excerpt
from callboard.contracts.ports.secrets import StreamRedaction
from callboard.contracts.ports.tools import ToolOutcome

from ..shielded_wait import wait_shielded
from . import guarded_command
from .launch import Launch
from .output import Output

#: Seconds that a write waits for the command to read.
_PATIENCE = 10.0


def _discard(_: str) -> None:
    """Report nothing: readers request the output."""


class BackgroundCommand:
    """Implements the port `Process`.

    Args:
        resources: Closed when the command has ended.
        to_outcome: Converts the result of the command.
    """

    def __init__(
        self,
        guarded: guarded_command.GuardedCommand,
        output: Output,
        sink: int,
        resources: ExitStack,
        to_outcome: Callable[[guarded_command.CommandResult], ToolOutcome],
    ) -> None:
        self._guarded = guarded
        self._output = output
        self._sink = sink
        self._resources = resources
        self._to_outcome = to_outcome
        self._began = time.monotonic()
        self._write_lock = asyncio.Lock()
        self._end = asyncio.ensure_future(self._run_to_end())

    def read(self, offset: int, max_chars: int) -> Excerpt:
        """Return at most `max_chars` characters of the output from an offset."""
        return self._output.read(offset, max_chars)

    async def wait_for_output(self, offset: int) -> None:
        """Wait until there is output after the offset, or the process has ended."""
        while self.read(offset, 0).total <= offset and not self._end.done():
            self._guarded.output_arrived.clear()
            arrival = asyncio.ensure_future(self._guarded.output_arrived.wait())
            await asyncio.wait([arrival, self._end], return_when=asyncio.FIRST_COMPLETED)
            arrival.cancel()

    async def write(self, text: str, *, end: bool) -> None:
        """Write to the command's input. Raises Refusal `process_unavailable` if the command does not read it."""
        async with self._write_lock:
            remaining = memoryview(text.encode("utf-8", "surrogatepass"))
            deadline = time.monotonic() + _PATIENCE
            while remaining:
                if self._sink < 0 or self._end.done() or time.monotonic() > deadline:
                    raise Refusal(
                        "process_unavailable",
                        "The process does not read its input.",
                        hint="Read its output or stop it.",
                    )
                try:
                    remaining = remaining[os.write(self._sink, remaining) :]
                except BlockingIOError:
                    await asyncio.sleep(0.01)
                except BrokenPipeError:
                    self._close_sink()
            if end:
                self._close_sink()

    async def stop(self) -> None:
        """End the command and all its processes. Return when all have ended."""
        self._guarded.release()
        await wait_shielded(self._end)

    async def wait(self) -> ToolOutcome:
        """Wait until all processes have ended, and return the outcome."""
        return await asyncio.shield(self._end)

    async def _run_to_end(self) -> ToolOutcome:
        try:
            await asyncio.wait([self._guarded.reading])
            result = await self._guarded.end()
        finally:
            self._close_sink()
            self._resources.close()
        duration_ms = round((time.monotonic() - self._began) * 1000)
        outcome = await asyncio.to_thread(self._to_outcome, result)
        return msgspec.structs.replace(outcome, duration_ms=duration_ms)

    def _close_sink(self) -> None:
        sink, self._sink = self._sink, -1
        if sink >= 0:
            with suppress(OSError):
                os.close(sink)


async def start(
    launch: Launch,
    resources: ExitStack,
    to_outcome: Callable[[guarded_command.CommandResult], ToolOutcome],
    redactor: StreamRedaction | None,
) -> tuple[BackgroundCommand, bool]:
    """Start a background command. Return it, and whether this task was cancelled in the meantime."""
    source, sink = os.pipe()
    os.set_blocking(sink, False)
    output = Output(_discard, redactor)
    try:
        guarded, cancelled = await guarded_command.start(launch, output, source=source)
    except BaseException:
        os.close(sink)
        resources.close()
        raise
    return BackgroundCommand(guarded, output, sink, resources, to_outcome), cancelled
