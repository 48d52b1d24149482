"""Line transport between an agent and this process: one JSON message per line, limited in size."""

from __future__ import annotations

import asyncio
import json
import logging
import math
from collections.abc import Awaitable, Callable
from typing import Any, cast

from callboard.contracts.content import repair_texts

log = logging.getLogger(__name__)

_INTERNAL = -32603
_PIECE = 1 << 16


class LineTransport:
    """Implement the transport of the protocol library. Invalid lines are dropped: some programs print to their output.

    Args:
        wait_for_space: Awaited with the size of each message in bytes, before the message is returned.
    Attributes:
        ended: Set once reading has ended.
        fault: Why reading ended, if not by the end of the agent's output.
    """

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        wait_for_space: Callable[[int], Awaitable[None]],
    ) -> None:
        self.ended = asyncio.Event()
        self.fault = ""
        self._reader = reader
        self._writer = writer
        self._wait_for_space = wait_for_space
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
                self.fault = f"The agent sent a line of more than {error.consumed:,} bytes."
                self.ended.set()
                self._rest = asyncio.create_task(self._discard_rest())
                return None
            await self._wait_for_space(len(line))
            message = _parse_message(line)
            if message is not None:
                return message

    async def close(self) -> None:
        """Discard unread output. The process has closed its output by now."""
        if self._rest is not None:
            await self._rest

    async def _discard_rest(self) -> None:
        while await self._reader.read(_PIECE):
            pass


def _parse_message(line: bytes) -> dict[str, Any] | None:
    """Return the message of a line; None for an invalid line."""
    if not line.lstrip().startswith(b"{"):
        return None
    try:
        parsed = json.loads(line.decode("utf-8", "replace"), parse_constant=_parse_constant, parse_float=_parse_finite)
        message = cast("dict[str, Any]", repair_texts(parsed) if b"\\u" in line else parsed)
    except (ValueError, RecursionError) as error:
        log.warning("an external agent sent an invalid line (%s)", type(error).__name__)
        return None
    if not isinstance(message.get("method"), str | None) or not isinstance(message.get("id"), str | int | None):
        return None
    if "error" in message:
        message["error"] = _normalise_error(message["error"])
    return message


def _normalise_error(error: object) -> dict[str, Any]:
    """Return the error of a response with a number as code and a text as message."""
    fields = cast("dict[str, Any]", error) if isinstance(error, dict) else {"message": error}
    code, message = fields.get("code"), fields.get("message")
    return {
        **fields,
        "code": code if isinstance(code, int) else _INTERNAL,
        "message": message if isinstance(message, str) else "The agent sent an error without a message.",
    }


def _parse_constant(_: str) -> None:
    """Read NaN and Infinity as null: some programs write them although JSON has neither."""
    return


def _parse_finite(text: str) -> float | None:
    number = float(text)
    return number if math.isfinite(number) else None
