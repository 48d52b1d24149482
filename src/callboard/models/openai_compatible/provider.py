"""The model that the rest of the house sees: light until it is asked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING

from callboard.contracts.ports.model import ModelEvent, ModelRequest

from .endpoint import Endpoint

if TYPE_CHECKING:
    from .wire import Wire


class OpenAICompatible:
    """One model of an OpenAI-compatible endpoint.

    Belongs to the event loop that first asks it. A request is tried once: retries are the caller's, who records each.
    """

    def __init__(self, endpoint: Endpoint, name: str) -> None:
        self.provider = endpoint.provider
        self.name = name
        self.label = f"{endpoint.provider} · {name}"
        self.window: int | None = None
        self.images = False
        self._endpoint = endpoint
        self._wire: Wire | None = None

    async def warm(self) -> None:
        """Loads what the first call needs, off the event loop. Sends nothing."""
        await self._open()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Asks once. Yields deltas and then `Finished`. Raises ModelFailure; closing the iterator ends the HTTP request."""
        wire = await self._open()
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
            wire = await asyncio.to_thread(_load, self._endpoint, self.name)
            # Of two first calls at the same time the first to come back is kept; the other never opened a connection.
            self._wire = self._wire or wire
        return self._wire


def _load(endpoint: Endpoint, name: str) -> Wire:
    from .wire import Wire

    return Wire(endpoint, name)
