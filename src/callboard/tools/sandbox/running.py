"""The host's side of a command: starts it behind its guard, takes its output, and ends all of it in time."""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import os
import sys
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from ..outlasting import kill, outlast

HEAD = 512 * 1024
TAIL = 512 * 1024
_PIECE = 64 * 1024
#: How long the guard may take to end a tree before it is ended itself, in seconds.
_PATIENCE = 5.0

_GUARD = str(Path(__file__).with_name("guard.py"))


class Ran(NamedTuple):
    """What a command came to. `exit_code` is None where it did not end by itself; then `error` says why it did not even run,
    or `timed_out` is set."""

    output: str
    exit_code: int | None
    timed_out: bool = False
    error: str = ""


class _Status(msgspec.Struct, frozen=True):
    """A line of status, the guard's or bubblewrap's."""

    exit: int | None = None
    error: str = ""
    ran: int | None = msgspec.field(default=None, name="exit-code")


class Output:
    """Output of any length as it comes: its head and its tail are kept, and its head is passed on."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._head: list[str] = []
        self._tail: deque[str] = deque()
        self._head_size = self._tail_size = self._left = 0

    def take(self, data: bytes, *, last: bool = False) -> None:
        """The next piece. Bytes that are no UTF-8 are shown as replacement characters."""
        text = self._decoder.decode(data, last)
        room = HEAD - self._head_size
        if room > 0:
            now, text = text[:room], text[room:]
            if now:
                self._head.append(now)
                self._head_size += len(now)
                self._tell(now)
            if text:
                self._tell(f"\n[more than {HEAD:,} characters of output; what follows is not shown as it comes]\n")
        if text:
            self._tail.append(text)
            self._tail_size += len(text)
        while self._tail_size - len(self._tail[0]) > TAIL if self._tail else False:
            gone = len(self._tail.popleft())
            self._tail_size -= gone
            self._left += gone

    def text(self) -> str:
        """What is kept."""
        tail = "".join(self._tail)
        over = max(0, len(tail) - TAIL)
        left = self._left + over
        note = f"\n[{left:,} characters of output left out here]\n" if left else ""
        return "".join(self._head) + note + tail[over:]


async def run(
    command: Callable[[int], Sequence[str]],
    folder: str,
    environment: dict[str, str],
    *,
    seconds: float,
    output: Callable[[str], None],
    handed: Sequence[int] = (),
    reports: bool = False,
) -> Ran:
    """Runs a command in the folder, with nothing on its input and both outputs merged in their order.

    `command` makes the command line, given the descriptor on which bubblewrap is to report; with `reports` it must, and what
    it does not report as run was not run. `handed` are descriptors that the command gets. Whatever came of the command is
    dead when this returns, also where the task is cancelled.
    """
    told, tell = os.pipe()
    report = os.dup(tell)
    held, hold = os.pipe()
    kept = Output(output)
    try:
        process, cancelled = await outlast(
            asyncio.create_subprocess_exec(
                sys.executable,
                *("-I", "-S", _GUARD, str(tell), *command(report)),
                stdin=held,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
                cwd=folder,
                env=environment,
                start_new_session=True,
                pass_fds=(tell, report, *handed) if reports else (tell, *handed),
            )
        )
    except BaseException:
        os.close(hold)
        os.close(told)
        raise
    finally:
        for descriptor in (tell, report, held):
            os.close(descriptor)
    try:
        timed_out, cancelled = await _attend(process, kept, hold, 0.0 if cancelled else seconds, cancelled=cancelled)
        found = _statuses(told)
    finally:
        os.close(told)
    if cancelled:
        raise asyncio.CancelledError
    return _outcome(kept, found, timed_out=timed_out, reports=reports)


async def _attend(
    process: asyncio.subprocess.Process, kept: Output, hold: int, seconds: float, *, cancelled: bool
) -> tuple[bool, bool]:
    """Takes the output until the guard ends, and has it end in time: whether time was over, whether we were cancelled."""
    reading = asyncio.ensure_future(_take_all(process.stdout, kept))
    timed_out = False
    try:
        done, _ = await asyncio.wait([reading], timeout=seconds)
        timed_out = not done
    except asyncio.CancelledError:
        cancelled = True
    finally:
        os.close(hold)
    _, again = await outlast(_ended(process, reading))
    return timed_out, cancelled or again


async def _ended(process: asyncio.subprocess.Process, reading: asyncio.Future[None]) -> None:
    waiting = asyncio.ensure_future(process.wait())
    await asyncio.wait([waiting], timeout=_PATIENCE)
    if not waiting.done():
        kill(process)
        await waiting
    # Something that could not be killed may still hold the other end.
    await asyncio.wait([reading], timeout=_PATIENCE)
    reading.cancel()
    await asyncio.wait([reading])


async def _take_all(stream: asyncio.StreamReader | None, kept: Output) -> None:
    while stream is not None and (data := await stream.read(_PIECE)):
        kept.take(data)
    kept.take(b"", last=True)


def _statuses(told: int) -> list[_Status]:
    os.set_blocking(told, False)
    data = b""
    with contextlib.suppress(BlockingIOError):
        while piece := os.read(told, _PIECE):
            data += piece
    return [msgspec.json.decode(line, type=_Status) for line in data.splitlines() if line.strip()]


def _outcome(kept: Output, found: list[_Status], *, timed_out: bool, reports: bool) -> Ran:
    if timed_out:
        return Ran(kept.text(), None, timed_out=True)
    error = next((one.error for one in found if one.error), "")
    code = next((one.exit for one in found if one.exit is not None), None)
    ran = not reports or any(one.ran is not None for one in found)
    if error or code is None or not ran:
        text = kept.text()
        return Ran("", None, error=error or text.strip() or "the guard of the command ended")
    return Ran(kept.text(), code)
