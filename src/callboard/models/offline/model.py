"""The search behind the port of a model."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import msgspec

from callboard.contracts.ports.model import Finished, ModelEvent, ModelRequest, TextDelta, ToolCallDelta

from .steps import SearchRequest, next_step

PROVIDER = "offline"
NAME = "search, no model"


class Offline:
    """Finds files and lines for the words of a prompt. Holds nothing between calls; the same request gives the same answer."""

    def __init__(self) -> None:
        self.provider = PROVIDER
        self.name = NAME
        self.label = NAME
        self.window: int | None = None
        self.images = False

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """The next step. Never fails."""
        step = next_step(request)
        ask = step if isinstance(step, SearchRequest) else step.then
        index = 0
        if not isinstance(step, SearchRequest):
            for line in step.text.splitlines(keepends=True):
                # Others get their turn, as they would while a server is awaited.
                await asyncio.sleep(0)
                yield TextDelta(index, line)
            index += 1
        if ask is not None:
            arguments = msgspec.json.encode(ask.arguments).decode()
            call_id = f"call_{len(request.messages)}"
            yield ToolCallDelta(index, call_id, ask.tool, arguments)
        yield Finished(stop_reason="stop" if ask is None else "tool_calls")
