"""A background command: read from an offset, written to, and ended."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress

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


def _untold(_: str) -> None:
    """Nobody is shown the output as it comes: it is asked for."""


class BackgroundCommand:
    """Implements the port `Process`.

    Args:
        held: Resources that stay open while the command runs.
        outcome: Converts the result of the command.
    """

    def __init__(
        self,
        guarded: guarded_command.GuardedCommand,
        output: Output,
        sink: int,
        held: ExitStack,
        outcome: Callable[[guarded_command.CommandResult], ToolOutcome],
    ) -> None:
        self._guarded = guarded
        self._output = output
        self._sink = sink
        self._held = held
        self._outcome_of = outcome
        self._began = time.monotonic()
        self._writing = asyncio.Lock()
        self._end = asyncio.ensure_future(self._carry())

    def read(self, offset: int, most: int) -> Excerpt:
        """Return at most `most` characters of the output, from an offset on."""
        return self._output.read(offset, most)

    async def wait_for_output(self, offset: int) -> None:
        """Wait until there is output after the offset, or the process has ended."""
        while self.read(offset, 0).total <= offset and not self._end.done():
            self._guarded.output_arrived.clear()
            coming = asyncio.ensure_future(self._guarded.output_arrived.wait())
            await asyncio.wait([coming, self._end], return_when=asyncio.FIRST_COMPLETED)
            coming.cancel()

    async def write(self, text: str, *, end: bool) -> None:
        """Write to the command's input.

        Raises:
            Refusal: `process_unavailable` if the command no longer reads its input.
        """
        async with self._writing:
            left = memoryview(text.encode("utf-8", "surrogatepass"))
            until = time.monotonic() + _PATIENCE
            while left:
                if self._sink < 0 or self._end.done() or time.monotonic() > until:
                    raise Refusal("process_unavailable", "The process does not read what is written to it.")
                try:
                    left = left[os.write(self._sink, left) :]
                except BlockingIOError:
                    await asyncio.sleep(0.01)
                except BrokenPipeError:
                    self._close_sink()
            if end:
                self._close_sink()

    async def stop(self) -> None:
        """End the command and every process that it started. Return when all have ended."""
        self._guarded.release()
        await wait_shielded(self._end)

    async def wait(self) -> ToolOutcome:
        """Wait until every process of the command has ended, and return its outcome."""
        return await asyncio.shield(self._end)

    async def _carry(self) -> ToolOutcome:
        try:
            await asyncio.wait([self._guarded.reading])
            ran = await self._guarded.end()
        finally:
            self._close_sink()
            self._held.close()
        took = round((time.monotonic() - self._began) * 1000)
        made = await asyncio.to_thread(self._outcome_of, ran)
        return ToolOutcome(
            output=made.output, code=made.code, message=made.message, exit_code=made.exit_code, duration_ms=took
        )

    def _close_sink(self) -> None:
        sink, self._sink = self._sink, -1
        if sink >= 0:
            with suppress(OSError):
                os.close(sink)


async def start(
    launch: Launch,
    held: ExitStack,
    outcome: Callable[[guarded_command.CommandResult], ToolOutcome],
    veil: StreamRedaction | None,
) -> tuple[BackgroundCommand, bool]:
    """Start a background command with a pipe for its input. `held` is closed when it has ended.

    Returns:
        The command, and whether this task was cancelled meanwhile.
    """
    source, sink = os.pipe()
    os.set_blocking(sink, False)
    output = Output(_untold, veil)
    try:
        guarded, cancelled = await guarded_command.start(launch, output, source=source)
    except BaseException:
        os.close(sink)
        held.close()
        raise
    return BackgroundCommand(guarded, output, sink, held, outcome), cancelled
