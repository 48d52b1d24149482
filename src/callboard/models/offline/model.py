"""The offline search as a model."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import msgspec

from callboard.contracts.ports.model import Finished, ModelEvent, ModelRequest, TextDelta, ToolCallDelta

from .steps import SearchRequest, decide_step

PROVIDER = "offline"
NAME = "search, no model"


class Offline:
    """Finds files and lines for the words of a prompt. Stateless: equal requests have equal answers."""

    def __init__(self) -> None:
        self.provider = PROVIDER
        self.name = NAME
        self.label = NAME
        self.window: int | None = None
        self.images = False

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Yield the next step. Never fails."""
        step = decide_step(request)
        call = step if isinstance(step, SearchRequest) else step.then
        index = 0
        if not isinstance(step, SearchRequest):
            for line in step.text.splitlines(keepends=True):
                # Let other work run, like a wait for a server.
                await asyncio.sleep(0)
                yield TextDelta(index, line)
            index += 1
        if call is not None:
            arguments = msgspec.json.encode(call.arguments).decode()
            yield ToolCallDelta(index, f"call_{len(request.messages)}", call.tool, arguments)
        yield Finished(stop_reason="stop" if call is None else "tool_calls")
