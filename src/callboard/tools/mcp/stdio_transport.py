"""Transport to a server that is a program, behind the guard.

Each line is a message. Invalid lines are stored as diagnostics. A line that is too long, or too many
invalid lines, end the connection.
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

from callboard.contracts.content import repair_texts

from ..sandbox.launch import Descriptors, Guard, Launch, make_builder, start_guard
from ..shielded_wait import kill, wait_shielded
from .server_log import ServerLog

#: Maximum size of a message, in bytes.
MAX_MESSAGE_BYTES = 16 * 1024 * 1024
#: Maximum invalid output, in lines and bytes.
MAX_INVALID_LINES = 1000
MAX_INVALID_BYTES = 1024 * 1024
#: Maximum length of a stored invalid line, in bytes.
_MAX_LINE_BYTES = 500
#: Seconds for a server to end after its input closes, and for its guard to end.
_TO_END = 1.0
_PATIENCE = 5.0
_PIECE = 64 * 1024

Read = MemoryObjectReceiveStream[SessionMessage | Exception]
Write = MemoryObjectSendStream[SessionMessage]
_Inbox = MemoryObjectSendStream[SessionMessage | Exception]
_Outbox = MemoryObjectReceiveStream[SessionMessage]


class _Process:
    """A server behind its guard. `ending` is True after `end` was called."""

    def __init__(self, guard: Guard, input_pipe: asyncio.WriteTransport) -> None:
        self.process = guard.process
        self.input = input_pipe
        self.ending = False
        self._guard = guard

    async def end(self) -> None:
        """Close the server's input, wait, and kill its remaining processes."""
        self.ending = True
        self.input.close()
        waiting = asyncio.ensure_future(self.process.wait())
        try:
            await asyncio.wait([waiting], timeout=_TO_END)
        finally:
            # No process of the server may remain, also after a cancellation.
            self._guard.release()
        await wait_shielded(self._wait_for_end(waiting))

    def explain_end(self) -> str:
        """Return how it ended, from its guard's report; empty without a report."""
        if self.process.returncode is None:
            return "it closed its output"
        status = self._guard.read_status()
        return status.error or ("" if status.exit is None else f"its program ended with exit code {status.exit}")

    def close(self) -> None:
        """Release the guard."""
        self._guard.close()

    async def _wait_for_end(self, waiting: asyncio.Future[int]) -> None:
        await asyncio.wait([waiting], timeout=_PATIENCE)
        if not waiting.done():
            kill(self.process)
            await waiting


@asynccontextmanager
async def connect_program(
    command: Sequence[str], folder: str, environment: Mapping[str, str], log: ServerLog, end: asyncio.Event
) -> AsyncGenerator[tuple[Read, Write], None]:
    """Return the message streams of a program. Raises OSError if it cannot start.

    When the program ends, closes its output or sends too much invalid output, `end` is set and
    `log.reason` states the reason.
    """
    running = await _start(command, folder, environment)
    inbox, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write, outbox = anyio.create_memory_object_stream[SessionMessage](0)
    diagnosing = asyncio.create_task(_diagnose(running.process.stderr, log))
    reading = asyncio.create_task(_read(running, inbox, log, end, diagnosing))
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
    launch = Launch(make_builder(command), folder, dict(environment), {})
    with Descriptors() as descriptors:
        input_read, input_write = descriptors.pipe()
        descriptors.release(input_read)
        guard, cancelled = await start_guard(launch, source=input_read)
        try:
            if cancelled:
                raise asyncio.CancelledError
            descriptors.release(input_write)
            loop = asyncio.get_running_loop()
            pipe, _ = await loop.connect_write_pipe(asyncio.Protocol, os.fdopen(input_write, "wb", 0))
        except BaseException:
            guard.release()
            try:
                await guard.process.wait()
            finally:
                guard.close()
            raise
    return _Process(guard, pipe)


async def _read(
    running: _Process, inbox: _Inbox, log: ServerLog, end: asyncio.Event, diagnosing: asyncio.Task[None]
) -> None:
    """Read messages until the program ends or sends too much invalid output."""
    output = running.process.stdout
    with inbox:
        try:
            await _read_lines(output, inbox, log)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_TO_END):
                    await running.process.wait()
            if running.process.returncode is not None:
                await asyncio.wait([diagnosing], timeout=_TO_END)
            if not running.ending:
                log.reason = running.explain_end()
                end.set()
        except _AbandonedError as reason:
            log.reason = str(reason)
            end.set()
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            # We are closing the connection.
            pass
    # asyncio reports the end of a process only after its output was read to the end.
    while output is not None and await output.read(_PIECE):
        pass


class _AbandonedError(Exception):
    """The connection ends because of invalid output."""


async def _read_lines(stream: asyncio.StreamReader | None, inbox: _Inbox, log: ServerLog) -> None:
    buffer = bytearray()
    invalid_bytes = invalid_lines = 0
    while stream is not None and (data := await stream.read(_PIECE)):
        searched = len(buffer)
        buffer += data
        end = buffer.find(b"\n", searched)
        start = 0
        while end >= 0:
            line = bytes(buffer[start:end])
            start = end + 1
            end = buffer.find(b"\n", start)
            if not line.strip():
                continue
            try:
                message = _decode_message(line)
            except (ValueError, RecursionError):
                log.add(_quote_line(line) + "\n")
                invalid_lines, invalid_bytes = invalid_lines + 1, invalid_bytes + len(line)
                if invalid_lines > MAX_INVALID_LINES or invalid_bytes > MAX_INVALID_BYTES:
                    raise _AbandonedError("it sent too many invalid lines") from None
                continue
            await inbox.send(SessionMessage(message))
        del buffer[:start]
        if len(buffer) > MAX_MESSAGE_BYTES:
            raise _AbandonedError(f"it sent a message of more than {MAX_MESSAGE_BYTES:,} bytes")


def _decode_message(line: bytes) -> JSONRPCMessage:
    """Return the message of a line. Raises ValueError, RecursionError."""
    try:
        return jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        if b"\\ud" not in line.lower():
            raise
        # Programs that cut text within a character send unpaired surrogates.
        return jsonrpc_message_adapter.validate_python(repair_texts(json.loads(line)), by_name=False)


async def _write(outbox: _Outbox, pipe: asyncio.WriteTransport) -> None:
    with outbox:
        async for message in outbox:
            pipe.write(message.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")


def _quote_line(line: bytes) -> str:
    """Return the line, or the length of a long one, whose part could be a part of a secret."""
    return line.decode(errors="replace") if len(line) <= _MAX_LINE_BYTES else f"[a line of {len(line):,} bytes]"


async def _diagnose(stream: asyncio.StreamReader | None, log: ServerLog) -> None:
    # A character may be split over two pieces.
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    while stream is not None and (data := await stream.read(_PIECE)):
        log.add(decoder.decode(data))
