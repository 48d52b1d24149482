"""OpenAI Agents: its models of chat completions and of Responses."""

# pyright: reportMissingImports=false
from __future__ import annotations

import json
from typing import Any

from agents import ModelSettings, OpenAIChatCompletionsModel, OpenAIResponsesModel
from agents.models.interface import ModelTracing
from openai import AsyncOpenAI

from bench.rigs.conversation import ANSWER, ARGUMENTS, NOTES, PROMPT, TOOL


class Caller:
    def __init__(self, format: str, base_url: str) -> None:
        chosen = OpenAIChatCompletionsModel if format == "openai-compatible" else OpenAIResponsesModel
        self._client = AsyncOpenAI(base_url=base_url, api_key="none", max_retries=0)
        self._model = chosen("m", self._client)
        self._items: list[Any] = []

    def load(self, turns: int) -> None:
        self._items = []
        for number in range(turns):
            call = {"call_id": f"call_{number}", "name": TOOL, "arguments": json.dumps(ARGUMENTS)}
            self._items += [
                {"role": "user", "content": PROMPT},
                {"type": "function_call", **call},
                {"type": "function_call_output", "call_id": f"call_{number}", "output": NOTES},
                {"role": "assistant", "content": ANSWER},
            ]

    async def call(self) -> None:
        self._items.append({"role": "user", "content": PROMPT})
        events: Any = self._model.stream_response(
            "You help.", self._items, ModelSettings(), [], None, [], ModelTracing.DISABLED
        )
        async for _ in events:
            pass
        self._items.append({"role": "assistant", "content": ANSWER})

    async def close(self) -> None:
        await self._client.close()
