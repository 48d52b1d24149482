"""Model over HTTP. Libraries are loaded on first use."""

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

#: Replaces the handle of a secret with its value.
Reveal = Callable[[str], str]


def _return_unchanged(text: str) -> str:
    return text


class WireModel:
    """A model of an endpoint. `window` is the configured one until the first call.

    It belongs to the event loop of its first call. There are no retries: the caller repeats calls and records each attempt.
    """

    def __init__(self, endpoint: Endpoint, name: str, reveal: Reveal = _return_unchanged) -> None:
        self.provider = endpoint.provider
        self.name = name
        self.label = f"{endpoint.provider} · {name}"
        self.window = endpoint.window
        self.images = endpoint.format != "openai-compatible" if endpoint.images is None else endpoint.images
        self._endpoint = endpoint
        self._reveal = reveal
        self._wire: Wire | None = None

    async def warm(self) -> None:
        """Load the libraries of the first call off the event loop, without sending a request."""
        await self._open()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Send the request once. Yield deltas, then `Finished`. Closing the iterator ends the HTTP request.

        Raises:
            ModelFailure: The call failed.
        """
        try:
            wire = await self._open()
        except Refusal as refusal:
            raise ModelFailure(refusal.code, refusal.problem.message, retryable=False) from refusal
        async with aclosing(wire.ask(request)) as events:
            async for event in events:
                yield event

    async def close(self) -> None:
        """Close idle connections."""
        if self._wire is not None:
            await self._wire.close()
            self._wire = None

    async def _open(self) -> Wire:
        if self._wire is None:
            wire = await asyncio.to_thread(self._load)
            # If two first calls run at the same time, the first result is used; the other never opened a connection.
            self._wire = self._wire or wire
            self.window = self._wire.window
        return self._wire

    def _load(self) -> Wire:
        from .wire import Wire

        key = self._reveal(self._endpoint.api_key) if self._endpoint.api_key else ""
        wire = Wire(msgspec.structs.replace(self._endpoint, api_key=key), self.name, images=self.images)
        asyncio.run(wire.rehearse())
        return wire
