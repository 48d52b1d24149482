"""Request bodies that are assembled from encoded parts while they are sent."""

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


#: Bytes up to which small pieces are sent together: a piece takes the client longer than copying so many bytes.
TOGETHER: Final = 128 * 1024

#: Returns a body in pieces, with what the library was not given in its place.
Expand = Callable[[bytes], Sequence[bytes]]


def unexpanded(body: bytes) -> Sequence[bytes]:
    """Return a body that has all of its content."""
    return (body,)


class CapturedError(Exception):
    """The request was captured and not sent."""


@dataclass
class Capture:
    """A request that is encoded and not sent. `items` are those of its conversation, None until it was encoded. With `built`,
    the client builds all of the request before."""

    built: bool = False
    items: list[Any] | None = None


@dataclass
class Splice:
    """Encoded rounds that go before the conversation of a request, each with a comma at its end, in pieces that are sent as
    they are. `size` is in bytes."""

    pieces: Sequence[bytes] = ()
    size: int = 0


_planned: ContextVar[Capture | Splice | None] = ContextVar("planned", default=None)


@contextmanager
def planned(plan: Capture | Splice) -> Generator[None]:
    """Apply the plan to requests that this context sends."""
    token = _planned.set(plan)
    try:
        yield
    finally:
        _planned.reset(token)


def hand_over(items: list[Any]) -> None:
    """Capture the items of a conversation if this context only encodes it. Call it where a library gives its client the items
    as they are on the wire: what the client does with a request takes longer than the items.

    Raises:
        CapturedError: The items were captured; nothing is sent.
    """
    plan = _planned.get()
    if isinstance(plan, Capture) and not plan.built:
        plan.items = items
        raise CapturedError


class RequestHook:
    """Request hook of an HTTP client: captures a body, or puts encoded rounds and what `expand` knows into it."""

    def __init__(self, field: str, expand: Expand = unexpanded) -> None:
        self._field = field
        self._expand = expand

    async def __call__(self, request: httpx2.Request) -> None:
        """Apply the plan of this context.

        Raises:
            CapturedError: The body was captured; nothing is sent.
        """
        plan = _planned.get()
        if plan is None:
            return
        if isinstance(plan, Capture):
            plan.items = msgspec.json.decode(request.content)[self._field]
            raise CapturedError
        # The library took its time to build the request, and takes as much again to send it.
        await asyncio.sleep(0)
        pieces = self._spliced(request.content, plan) if plan.size else self._expand(request.content)
        if len(pieces) > 1:
            stream = _Body(pieces)
            request.headers["content-length"] = str(stream.size)
            request.stream = stream

    def _spliced(self, content: bytes, splice: Splice) -> Sequence[bytes]:
        body: dict[str, Any] = msgspec.json.decode(content)
        items: list[Any] = body.pop(self._field)
        at = next((at for at, item in enumerate(items) if item.get("role") not in _SYSTEM), len(items))
        lead, rest = items[:at], items[at:]
        others = msgspec.json.encode(body)[:-1] + (b"," if body else b"")
        head = b"".join((others, msgspec.json.encode(self._field), b":[", join_items(lead), b"," if lead else b""))
        pieces = splice.pieces if rest else _without_last_comma(splice.pieces)
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
                # The connection may take all of it without a pause, and others wait meanwhile.
                await asyncio.sleep(0)
            waiting.append(piece)
            size += len(piece)
        yield b"".join(waiting)


def _without_last_comma(pieces: Sequence[bytes]) -> Sequence[bytes]:
    # A round can encode to no item.
    filled = [piece for piece in pieces if piece]
    return (*filled[:-1], filled[-1][:-1])


def join_items(items: Sequence[Any]) -> bytes:
    """Encode the items of a list, without its brackets."""
    return msgspec.json.encode(items)[1:-1]
