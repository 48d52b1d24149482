"""Callboard's own client of models, in all of its wire formats."""

from __future__ import annotations

import json
from typing import cast

from bench.rigs.conversation import ANSWER, ARGUMENTS, NOTES, PROMPT, TOOL
from callboard.contracts.ports.model import (
    Finished,
    ModelMessage,
    ModelRequest,
    TextContent,
    ToolCallContent,
    ToolResultContent,
)
from callboard.models.wire import Endpoint, Format, WireModel


class Caller:
    def __init__(self, format: str, base_url: str) -> None:
        endpoint = Endpoint(provider="bench", base_url=base_url, format=cast("Format", format), api_key="none")
        self._model = WireModel(endpoint, "m")
        self._messages: list[ModelMessage] = []
        self._thread = 0

    def load(self, turns: int) -> None:
        # A new conversation, without cached encodings.
        self._thread += 1
        self._messages = []
        for number in range(turns):
            call = f"call_{number}"
            self._add("user", TextContent(PROMPT))
            self._add("assistant", ToolCallContent(call, TOOL, json.dumps(ARGUMENTS)))
            self._add("tool", ToolResultContent(call, TOOL, NOTES))
            self._add("assistant", TextContent(ANSWER))

    async def call(self) -> None:
        self._add("user", TextContent(PROMPT))
        request = ModelRequest(
            model="m", system=("You help.",), messages=tuple(self._messages), session="ses_1", thread=str(self._thread)
        )
        async for event in self._model.stream(request):
            if isinstance(event, Finished):
                self._add("assistant", TextContent(ANSWER))

    async def close(self) -> None:
        await self._model.close()

    def _add(self, role: str, content: TextContent | ToolCallContent | ToolResultContent) -> None:
        self._messages.append(ModelMessage(role=role, content=(content,)))  # pyright: ignore[reportArgumentType]
