"""Transport to a server that is a program, behind the guard.

Each message is a line. An invalid line is stored as a diagnostic. A line that is too long, or too
many invalid lines, end the connection.
"""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import json
import os
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCMessage, jsonrpc_message_adapter

from callboard.contracts.content import valid_texts

from ..sandbox.launch import Descriptors, Guard, Launch, fixed_command, start_guard
from ..shielded_wait import kill, wait_shielded
from .server_log import ServerLog

#: Maximum size of a message, in bytes.
LARGEST = 16 * 1024 * 1024
#: Maximum invalid output, in lines and bytes, before the connection ends.
MOST_LINES = 1000
MOST_BYTES = 1024 * 1024
#: Maximum length of a stored invalid line, in bytes.
_LONGEST_LINE = 500
#: Seconds for a server to end after its input closes, and for its guard to end it.
_TO_END = 1.0
_PATIENCE = 5.0
_PIECE = 64 * 1024

Read = MemoryObjectReceiveStream[SessionMessage | Exception]
Write = MemoryObjectSendStream[SessionMessage]
_Inbox = MemoryObjectSendStream[SessionMessage | Exception]
_Outbox = MemoryObjectReceiveStream[SessionMessage]


class _Process:
    """A server behind its guard. `ending` is set once we end it."""

    def __init__(self, guard: Guard, given: asyncio.WriteTransport) -> None:
        self.process = guard.process
        self.input = given
        self.ending = False
        self._guard = guard

    async def end(self) -> None:
        """Close the server's input, wait, then kill what still runs."""
        self.ending = True
        self.input.close()
        waiting = asyncio.ensure_future(self.process.wait())
        try:
            await asyncio.wait([waiting], timeout=_TO_END)
        finally:
            # No process of the server may stay, also after a cancellation.
            self._guard.release()
        await wait_shielded(self._ended(waiting))

    def how(self) -> str:
        """Return how it ended, if its guard reports it; empty if we ended it."""
        if self.process.returncode is None:
            return "it closed its output"
        lines = self._guard.read_status()
        error = next((one.error for one in lines if one.error), "")
        code = next((one.exit for one in lines if one.exit is not None), None)
        return error or ("" if code is None else f"its program ended with exit code {code}")

    def close(self) -> None:
        """Release the guard."""
        self._guard.close()

    async def _ended(self, waiting: asyncio.Future[int]) -> None:
        await asyncio.wait([waiting], timeout=_PATIENCE)
        if not waiting.done():
            kill(self.process)
            await waiting


@asynccontextmanager
async def connect_program(
    command: Sequence[str], folder: str, environment: Mapping[str, str], said: ServerLog, over: asyncio.Event
) -> AsyncGenerator[tuple[Read, Write], None]:
    """Return the message streams of a program. Raises OSError if it cannot start.

    When the program ends, closes its output or sends too much invalid output, `over` is set and
    `said.reason` has the reason.
    """
    running = await _start(command, folder, environment)
    inbox, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write, outbox = anyio.create_memory_object_stream[SessionMessage](0)
    diagnosing = asyncio.create_task(_diagnose(running.process.stderr, said))
    reading = asyncio.create_task(_read(running, inbox, said, over, diagnosing))
    writing = asyncio.create_task(_write(outbox, running.input))
    try:
        yield read, write
    finally:
        read.close()
        write.close()
        try:
            await running.end()
        finally:
            for task in (reading, writing, diagnosing):
                task.cancel()
            await asyncio.gather(reading, writing, diagnosing, return_exceptions=True)
            for stream in (inbox, outbox):
                stream.close()
            running.close()


async def _start(command: Sequence[str], folder: str, environment: Mapping[str, str]) -> _Process:
    launch = Launch(fixed_command(command), folder, dict(environment), {})
    with Descriptors() as ours:
        taken, given = ours.pipe()
        ours.release(taken)
        guard, cancelled = await start_guard(launch, source=taken)
        try:
            if cancelled:
                raise asyncio.CancelledError
            ours.release(given)
            loop = asyncio.get_running_loop()
            pipe, _ = await loop.connect_write_pipe(asyncio.Protocol, os.fdopen(given, "wb", 0))
        except BaseException:
            guard.release()
            try:
                await guard.process.wait()
            finally:
                guard.close()
            raise
    return _Process(guard, pipe)


async def _read(
    running: _Process, inbox: _Inbox, said: ServerLog, over: asyncio.Event, diagnosing: asyncio.Task[None]
) -> None:
    """Read messages until the program ends or sends too much invalid output."""
    output = running.process.stdout
    with inbox:
        try:
            await _take_lines(output, inbox, said)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_TO_END):
                    await running.process.wait()
            if running.process.returncode is not None:
                await asyncio.wait([diagnosing], timeout=_TO_END)
            if not running.ending:
                said.reason = running.how()
                over.set()
        except _AbandonedError as reason:
            said.reason = str(reason)
            over.set()
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            # The connection is being ended from our side.
            pass
    # asyncio reports the end of a process only after the end of its output was read.
    while output is not None and await output.read(_PIECE):
        pass


class _AbandonedError(Exception):
    """The connection ends because of invalid output."""


async def _take_lines(stream: asyncio.StreamReader | None, inbox: _Inbox, said: ServerLog) -> None:
    waiting = bytearray()
    none_of_it = lines = 0
    while stream is not None and (data := await stream.read(_PIECE)):
        first = len(waiting)
        waiting += data
        end = waiting.find(b"\n", first)
        begun = 0
        while end >= 0:
            line = bytes(waiting[begun:end])
            begun = end + 1
            end = waiting.find(b"\n", begun)
            if not line.strip():
                continue
            try:
                message = _message(line)
            except (ValueError, RecursionError):
                said.add(_whole(line) + "\n")
                lines, none_of_it = lines + 1, none_of_it + len(line)
                if lines > MOST_LINES or none_of_it > MOST_BYTES:
                    raise _AbandonedError("it wrote too much that is no message") from None
                continue
            await inbox.send(SessionMessage(message))
        del waiting[:begun]
        if len(waiting) > LARGEST:
            raise _AbandonedError(f"it sent a message of more than {LARGEST:,} bytes")


def _message(line: bytes) -> JSONRPCMessage:
    """Return the message of a line. Raises ValueError, RecursionError."""
    try:
        return jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        if b"\\ud" not in line.lower():
            raise
        # An unpaired surrogate, from programs that cut a text within a character.
        return jsonrpc_message_adapter.validate_python(valid_texts(json.loads(line)), by_name=False)


async def _write(outbox: _Outbox, pipe: asyncio.WriteTransport) -> None:
    with outbox:
        async for message in outbox:
            pipe.write(message.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")


def _whole(line: bytes) -> str:
    """Return the line. A long one is replaced by its length, because a part of it could be a part
    of a secret.
    """
    return line.decode(errors="replace") if len(line) <= _LONGEST_LINE else f"[a line of {len(line):,} bytes]"


async def _diagnose(stream: asyncio.StreamReader | None, said: ServerLog) -> None:
    # A character may be split over two pieces.
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    while stream is not None and (data := await stream.read(_PIECE)):
        said.add(decoder.decode(data))
