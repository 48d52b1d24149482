"""Request bodies that are assembled from encoded parts during sending."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final

import httpx2
import msgspec

#: The field of the body that lists the conversation, by wire format.
FIELDS: Final = {
    "openai-compatible": "messages",
    "openai": "input",
    "anthropic": "messages",
    "google": "contents",
}
#: Roles of items before the conversation that some formats list in the same field.
_SYSTEM: Final = frozenset({"system", "developer"})
#: Bytes up to which small pieces are joined: sending a piece takes longer than copying this many bytes.
TOGETHER: Final = 128 * 1024

#: Returns a body in pieces, with content in place of its marks.
Expand = Callable[[bytes], Sequence[bytes]]


def keep_unchanged(body: bytes) -> Sequence[bytes]:
    """Return a body without marks."""
    return (body,)


class CapturedError(Exception):
    """The request was captured and not sent."""


@dataclass
class Capture:
    """A request that is encoded and not sent.

    Attributes:
        built: Whether the client builds the whole request first.
        items: Items of its conversation; None before it is encoded.
    """

    built: bool = False
    items: list[Any] | None = None


@dataclass
class Splice:
    """Encoded rounds for the beginning of a request's conversation. Each ends with a comma. `size` is in bytes."""

    pieces: Sequence[bytes] = ()
    size: int = 0


_plan: ContextVar[Capture | Splice | None] = ContextVar("plan", default=None)


@contextmanager
def apply_plan(plan: Capture | Splice) -> Generator[None]:
    """Apply the plan to requests that this context sends."""
    token = _plan.set(plan)
    try:
        yield
    finally:
        _plan.reset(token)


def capture_items(items: list[Any]) -> None:
    """Capture encoded items of a conversation if this context only encodes it. It saves the client's work on the request.

    Raises:
        CapturedError: The items were captured; nothing is sent.
    """
    plan = _plan.get()
    if isinstance(plan, Capture) and not plan.built:
        plan.items = items
        raise CapturedError


class RequestHook:
    """Request hook of an HTTP client: captures a body, or inserts encoded rounds and the content of `expand`."""

    def __init__(self, field: str, expand: Expand = keep_unchanged) -> None:
        self._field = field
        self._expand = expand

    async def __call__(self, request: httpx2.Request) -> None:
        """Apply the plan of this context.

        Raises:
            CapturedError: The body was captured; nothing is sent.
        """
        plan = _plan.get()
        if plan is None:
            return
        if isinstance(plan, Capture):
            plan.items = msgspec.json.decode(request.content)[self._field]
            raise CapturedError
        # Let other work run between building and sending the request.
        await asyncio.sleep(0)
        pieces = self._splice(request.content, plan) if plan.size else self._expand(request.content)
        if len(pieces) > 1:
            stream = _Body(pieces)
            request.headers["content-length"] = str(stream.size)
            request.stream = stream

    def _splice(self, content: bytes, splice: Splice) -> Sequence[bytes]:
        body: dict[str, Any] = msgspec.json.decode(content)
        items: list[Any] = body.pop(self._field)
        start = next((at for at, item in enumerate(items) if item.get("role") not in _SYSTEM), len(items))
        system, rest = items[:start], items[start:]
        others = msgspec.json.encode(body)[:-1] + (b"," if body else b"")
        head = b"".join((others, msgspec.json.encode(self._field), b":[", join_items(system), b"," if system else b""))
        pieces = splice.pieces if rest else _drop_last_comma(splice.pieces)
        return (head, *pieces, *self._expand(join_items(rest) + b"]}"))


class _Body(httpx2.AsyncByteStream):
    def __init__(self, pieces: Sequence[bytes]) -> None:
        self._pieces = pieces
        self.size = sum(map(len, pieces))

    async def __aiter__(self) -> AsyncGenerator[bytes]:
        waiting, size = list[bytes](), 0
        for piece in self._pieces:
            if waiting and size + len(piece) > TOGETHER:
                yield b"".join(waiting)
                waiting, size = [], 0
                # Let other work run: the connection may accept everything without a pause.
                await asyncio.sleep(0)
            waiting.append(piece)
            size += len(piece)
        yield b"".join(waiting)


def _drop_last_comma(pieces: Sequence[bytes]) -> Sequence[bytes]:
    # A round without items is empty.
    filled = [piece for piece in pieces if piece]
    return (*filled[:-1], filled[-1][:-1])


def join_items(items: Sequence[Any]) -> bytes:
    """Encode the items of a list, without its brackets."""
    return msgspec.json.encode(items)[1:-1]
