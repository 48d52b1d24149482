"""Agno: its models of chat completions and of Responses."""

# pyright: reportMissingImports=false
from __future__ import annotations

import json
from typing import Any

from agno.models.message import Message
from agno.models.openai import OpenAIChat, OpenAIResponses

from bench.rigs.conversation import ANSWER, ARGUMENTS, NOTES, PROMPT, TOOL


class Caller:
    def __init__(self, format: str, base_url: str) -> None:
        chosen: Any = OpenAIChat if format == "openai-compatible" else OpenAIResponses
        self._model = chosen(id="m", base_url=base_url, api_key="none", max_retries=0)
        self._messages: list[Message] = []

    def load(self, turns: int) -> None:
        self._messages = [Message(role="system", content="You help.")]
        for number in range(turns):
            call = f"call_{number}"
            function = {"name": TOOL, "arguments": json.dumps(ARGUMENTS)}
            self._messages += [
                Message(role="user", content=PROMPT),
                Message(role="assistant", tool_calls=[{"id": call, "type": "function", "function": function}]),
                Message(role="tool", tool_call_id=call, content=NOTES),
                Message(role="assistant", content=ANSWER),
            ]

    async def call(self) -> None:
        self._messages.append(Message(role="user", content=PROMPT))
        events: Any = self._model.ainvoke_stream(self._messages, Message(role="assistant"))
        async for _ in events:
            pass
        self._messages.append(Message(role="assistant", content=ANSWER))

    async def close(self) -> None:
        pass
