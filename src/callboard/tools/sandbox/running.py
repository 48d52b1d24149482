"""The host's side of a command: starts it behind its guard, takes its output, and ends all of it in time."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from ..outlasting import kill, outlast
from .output import Output

_PIECE = 64 * 1024
#: How long the guard may take to end a tree before it is ended itself, in seconds; longer than it takes at the most.
_PATIENCE = 30.0

_GUARD = str(Path(__file__).with_name("guard.py"))


class Launch(NamedTuple):
    """How a command is started. `command` makes the command line, given the descriptor on which bubblewrap is to report; with
    `reports` it must, and what it does not report as run was not run. `handed` are descriptors that the command gets, `bounds`
    what its guard keeps it to."""

    command: Callable[[int], Sequence[str]]
    folder: str
    environment: dict[str, str]
    bounds: dict[str, int]
    handed: Sequence[int] = ()
    reports: bool = False


class Ran(NamedTuple):
    """What a command came to. `exit_code` is None where it did not end by itself; then `error` says why it did not even run,
    `limit` which limit it was over, or `stopped` is set."""

    output: str
    exit_code: int | None
    stopped: bool = False
    error: str = ""
    limit: str = ""


class _Status(msgspec.Struct, frozen=True):
    """A line of status, the guard's or bubblewrap's."""

    exit: int | None = None
    error: str = ""
    limit: str = ""
    ran: int | None = msgspec.field(default=None, name="exit-code")


class Guarded:
    """A command under way behind its guard. `end` must be awaited, or everything that came of it goes on until this process
    ends."""

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        printed: tuple[asyncio.StreamReader, asyncio.ReadTransport],
        output: Output,
        hold: int,
        told: int,
        *,
        reports: bool,
    ) -> None:
        self._process = process
        self._stream, self._pipe = printed
        self._output = output
        self._hold = hold
        self._told = told
        self._reports = reports
        self._asked = False
        self.came = asyncio.Event()
        self.reading = asyncio.ensure_future(self._take_all())

    def let_go(self) -> None:
        """Has the guard end the command with all that came of it, if it has not ended by itself."""
        if self._hold >= 0:
            self._asked = not self.reading.done()
            os.close(self._hold)
            self._hold = -1

    async def end(self) -> Ran:
        """Lets go and waits until nothing of the command is left: what it came to."""
        self.let_go()
        try:
            await self._ended()
            return self._outcome(_statuses(self._told))
        finally:
            os.close(self._told)

    async def _take_all(self) -> None:
        while data := await self._stream.read(_PIECE):
            self._output.take(data)
            self.came.set()
        self._output.take(b"", last=True)
        self.came.set()

    async def _ended(self) -> None:
        waiting = asyncio.ensure_future(self._process.wait())
        await asyncio.wait([waiting], timeout=_PATIENCE)
        if not waiting.done():
            kill(self._process)
            await waiting
        # Something that could not be killed may still hold the other end.
        await asyncio.wait([self.reading], timeout=_PATIENCE)
        self.reading.cancel()
        await asyncio.wait([self.reading])
        self._pipe.close()

    def _outcome(self, found: list[_Status]) -> Ran:
        limit = next((one.limit for one in found if one.limit), "")
        if limit:
            return Ran(self._output.text(), None, limit=limit)
        if self._asked:
            return Ran(self._output.text(), None, stopped=True)
        error = next((one.error for one in found if one.error), "")
        code = next((one.exit for one in found if one.exit is not None), None)
        ran = not self._reports or any(one.ran is not None for one in found)
        if error or code is None or not ran:
            text = self._output.text()
            return Ran("", None, error=error or text.strip() or "the guard of the command ended")
        return Ran(self._output.text(), code)


async def start(launch: Launch, output: Output, *, source: int = -1) -> tuple[Guarded, bool]:
    """Starts a command in its folder, both outputs merged in their order, and whether this task was cancelled meanwhile. It
    reads from the descriptor `source`, which is taken over, or from nothing."""
    told, tell = os.pipe()
    report = os.dup(tell)
    held, hold = os.pipe()
    # A pipe of our own: some event loops would take a socket, which no command can open by its name.
    printed, prints = os.pipe()
    kept = [*launch.handed, *([report] if launch.reports else [])]
    bounds = {**launch.bounds, "keep": kept}
    handed = [tell, *kept]
    if source >= 0:
        bounds["input"] = source
        handed.append(source)
    try:
        process, cancelled = await outlast(
            asyncio.create_subprocess_exec(
                sys.executable,
                *("-I", "-S", _GUARD, str(tell), msgspec.json.encode(bounds).decode(), *launch.command(report)),
                stdin=held,
                stdout=prints,
                stderr=prints,
                cwd=launch.folder,
                env=launch.environment,
                start_new_session=True,
                pass_fds=handed,
            )
        )
    except BaseException:
        for descriptor in (hold, told, printed):
            os.close(descriptor)
        raise
    finally:
        for descriptor in (tell, report, held, prints, *([source] if source >= 0 else [])):
            os.close(descriptor)
    stream, again = await outlast(_reader(printed))
    return Guarded(process, stream, output, hold, told, reports=launch.reports), cancelled or again


async def _reader(descriptor: int) -> tuple[asyncio.StreamReader, asyncio.ReadTransport]:
    reader = asyncio.StreamReader()
    protocol = asyncio.StreamReaderProtocol(reader)
    pipe, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, os.fdopen(descriptor, "rb", 0))
    return reader, pipe


async def run(launch: Launch, *, seconds: float, output: Callable[[str], None]) -> Ran:
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
    ran, again = await outlast(guarded.end())
    if cancelled or again:
        raise asyncio.CancelledError
    return ran


def _statuses(told: int) -> list[_Status]:
    os.set_blocking(told, False)
    data = b""
    with contextlib.suppress(BlockingIOError):
        while piece := os.read(told, _PIECE):
            data += piece
    return [msgspec.json.decode(line, type=_Status) for line in data.splitlines() if line.strip()]
