"""The lines between an agent and this process: a JSON message each, of a bounded size, in a form that the library can take."""

from __future__ import annotations

import asyncio
import json
import logging
import math
from collections.abc import Awaitable, Callable
from typing import Any, cast

from callboard.contracts.content import valid_texts

log = logging.getLogger(__name__)

_INTERNAL = -32603
_PIECE = 1 << 16


class LineTransport:
    """Implements the transport of the protocol's library. `ended` is set once nothing more is read, and
    `fault` says why, where it is not the end of the agent's output.

    An invalid line is dropped, since some programs print on their output. `wait_for_room` is awaited with the size of
    a message, in bytes, before it is taken.
    """

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        wait_for_room: Callable[[int], Awaitable[None]],
    ) -> None:
        self.ended = asyncio.Event()
        self.fault = ""
        self._reader = reader
        self._writer = writer
        self._wait_for_room = wait_for_room
        self._sending = asyncio.Lock()
        self._rest: asyncio.Task[None] | None = None

    async def send(self, message: dict[str, Any]) -> None:
        """Send a message. Raises ConnectionError, OSError."""
        async with self._sending:
            self._writer.write(json.dumps(message, separators=(",", ":")).encode() + b"\n")
            await self._writer.drain()

    async def receive(self) -> dict[str, Any] | None:
        """Return the next message; None at the end, or at a line that is longer than the reader's limit."""
        while True:
            try:
                line = await self._reader.readuntil(b"\n")
            except asyncio.IncompleteReadError as error:
                line = error.partial
                if not line:
                    self.ended.set()
                    return None
            except asyncio.LimitOverrunError as error:
                self.fault = f"It sent a line of more than {error.consumed:,} bytes."
                self.ended.set()
                self._rest = asyncio.create_task(self._discard_rest())
                return None
            await self._wait_for_room(len(line))
            message = _message(line)
            if message is not None:
                return message

    async def close(self) -> None:
        """Wait for the end of the output, which the process has closed by now, where it was not read."""
        if self._rest is not None:
            await self._rest

    async def _discard_rest(self) -> None:
        while await self._reader.read(_PIECE):
            pass


def _message(line: bytes) -> dict[str, Any] | None:
    """Return the message of a line; None for an invalid line."""
    if not line.lstrip().startswith(b"{"):
        return None
    try:
        found = json.loads(line.decode("utf-8", "replace"), parse_constant=_no_number, parse_float=_number)
        message = cast("dict[str, Any]", valid_texts(found) if b"\\u" in line else found)
    except (ValueError, RecursionError) as error:
        log.warning("an external agent sent an invalid line (%s)", type(error).__name__)
        return None
    if not isinstance(message.get("method"), str | None) or not isinstance(message.get("id"), str | int | None):
        return None
    if "error" in message:
        message["error"] = _error(message["error"])
    return message


def _error(error: object) -> dict[str, Any]:
    """Return the error of an answer with its code as a number and its message as a text."""
    given = cast("dict[str, Any]", error) if isinstance(error, dict) else {"message": error}
    code, message = given.get("code"), given.get("message")
    return {
        **given,
        "code": code if isinstance(code, int) else _INTERNAL,
        "message": message if isinstance(message, str) else "It sent an error without a message.",
    }


def _no_number(_: str) -> None:
    """NaN and Infinity, which some programs write and JSON does not have, read as null."""
    return


def _number(text: str) -> float | None:
    number = float(text)
    return number if math.isfinite(number) else None
