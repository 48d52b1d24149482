"""The model that the rest of the house sees: light until it is asked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import TYPE_CHECKING

import msgspec

from callboard.contracts.errors import Refusal
from callboard.contracts.ports.model import ModelEvent, ModelFailure, ModelRequest

from .endpoint import Endpoint

if TYPE_CHECKING:
    from .wire import Wire

#: What puts the value in place of a handle.
Reveal = Callable[[str], str]


def _as_it_is(text: str) -> str:
    return text


class WireModel:
    """One model of an endpoint. Until it is asked first, `window` is what was configured.

    Belongs to the event loop that first asks it. A request is tried once: retries are the caller's, who records each.
    """

    def __init__(self, endpoint: Endpoint, name: str, reveal: Reveal = _as_it_is) -> None:
        self.provider = endpoint.provider
        self.name = name
        self.label = f"{endpoint.provider} · {name}"
        self.window = endpoint.window
        self.images = endpoint.format != "openai-compatible" if endpoint.images is None else endpoint.images
        self._endpoint = endpoint
        self._reveal = reveal
        self._wire: Wire | None = None

    async def warm(self) -> None:
        """Loads what the first call needs, off the event loop. Sends nothing."""
        await self._open()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Asks once. Yields deltas and then `Finished`. Raises ModelFailure; closing the iterator ends the HTTP request."""
        try:
            wire = await self._open()
        except Refusal as refusal:
            raise ModelFailure(refusal.code, refusal.problem.message, retryable=False) from refusal
        async with aclosing(wire.ask(request)) as events:
            async for event in events:
                yield event

    async def close(self) -> None:
        """Closes the connections that are kept for the next call."""
        if self._wire is not None:
            await self._wire.close()
            self._wire = None

    async def _open(self) -> Wire:
        if self._wire is None:
            wire = await asyncio.to_thread(self._load)
            # Of two first calls at the same time the first to come back is kept; the other never opened a connection.
            self._wire = self._wire or wire
            self.window = self._wire.window
        return self._wire

    def _load(self) -> Wire:
        from .wire import Wire

        key = self._reveal(self._endpoint.api_key) if self._endpoint.api_key else ""
        wire = Wire(msgspec.structs.replace(self._endpoint, api_key=key), self.name, images=self.images)
        asyncio.run(wire.rehearse())
        return wire
