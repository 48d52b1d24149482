"""A server that is a program: started behind the guard, which ends it and all that came of it when its host is gone.

It speaks in lines, one message each. A line that is no message is kept as one of its diagnostics; one that is too long, or
too many that are none, end the connection.
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

#: The largest message that is taken, in bytes.
LARGEST = 16 * 1024 * 1024
#: How much of what is no message is taken before the connection is given up, in lines and bytes.
MOST_LINES = 1000
MOST_BYTES = 1024 * 1024
#: The longest line that is no message and is told, in bytes.
_LONGEST_LINE = 500
#: How long a server may take to end by itself once its input is closed, and its guard to end it, in seconds.
_TO_END = 1.0
_PATIENCE = 5.0
_PIECE = 64 * 1024

Read = MemoryObjectReceiveStream[SessionMessage | Exception]
Write = MemoryObjectSendStream[SessionMessage]
_Inbox = MemoryObjectSendStream[SessionMessage | Exception]
_Outbox = MemoryObjectReceiveStream[SessionMessage]


class _Process:
    """The guard with the server behind it. `input` is the server's; `ending` once it is we who end it."""

    def __init__(self, guard: Guard, given: asyncio.WriteTransport) -> None:
        self.process = guard.process
        self.input = given
        self.ending = False
        self._guard = guard

    async def end(self) -> None:
        """Ends the server: it may do so by itself, and what of it is still there then is killed."""
        self.ending = True
        self.input.close()
        waiting = asyncio.ensure_future(self.process.wait())
        try:
            await asyncio.wait([waiting], timeout=_TO_END)
        finally:
            # Whatever becomes of this task, nothing of the server stays.
            self._guard.release()
        await wait_shielded(self._ended(waiting))

    def how(self) -> str:
        """How it ended, as far as its guard tells; empty where it was we who ended it."""
        if self.process.returncode is None:
            return "it closed its output"
        lines = self._guard.read_status()
        error = next((one.error for one in lines if one.error), "")
        code = next((one.exit for one in lines if one.exit is not None), None)
        return error or ("" if code is None else f"its program ended with exit code {code}")

    def close(self) -> None:
        """Lets go of what is left."""
        self._guard.close()

    async def _ended(self, waiting: asyncio.Future[int]) -> None:
        await asyncio.wait([waiting], timeout=_PATIENCE)
        if not waiting.done():
            kill(self.process)
            await waiting


@asynccontextmanager
async def program(
    command: Sequence[str], folder: str, environment: Mapping[str, str], said: ServerLog, over: asyncio.Event
) -> AsyncGenerator[tuple[Read, Write], None]:
    """The streams of messages from and to a program. Raises OSError where it cannot be started.

    When the program ends, closes its output or sends too much that is invalid, `over` is set and `said.reason` has the reason.
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
        guard, cancelled = await start_guard(launch, given=taken)
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
    """Takes messages until the program ends, or says what is not taken."""
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
    # A process is not over for us before the end of its output was seen.
    while output is not None and await output.read(_PIECE):
        pass


class _AbandonedError(Exception):
    """What came is not taken any more."""


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
        # Half of a surrogate pair: what programs write that cut a text within a character.
        return jsonrpc_message_adapter.validate_python(valid_texts(json.loads(line)), by_name=False)


async def _write(outbox: _Outbox, pipe: asyncio.WriteTransport) -> None:
    with outbox:
        async for message in outbox:
            pipe.write(message.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")


def _whole(line: bytes) -> str:
    """The line; of one that is too long how long it is, since half of it may be half of a secret."""
    return line.decode(errors="replace") if len(line) <= _LONGEST_LINE else f"[a line of {len(line):,} bytes]"


async def _diagnose(stream: asyncio.StreamReader | None, said: ServerLog) -> None:
    # A character may come in two pieces.
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    while stream is not None and (data := await stream.read(_PIECE)):
        said.add(decoder.decode(data))
