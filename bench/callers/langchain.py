"""LangChain's OpenAI client, which LangGraph uses: chat completions and Responses."""

# pyright: reportMissingImports=false
from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_openai import ChatOpenAI

from bench.rigs.conversation import ANSWER, ARGUMENTS, NOTES, PROMPT, TOOL


class Caller:
    def __init__(self, format: str, base_url: str) -> None:
        options: dict[str, Any] = {"base_url": base_url, "api_key": "none", "max_retries": 0}
        self._model = ChatOpenAI(model="m", use_responses_api=format == "openai", **options)
        self._messages: list[BaseMessage] = []

    def load(self, turns: int) -> None:
        self._messages = [SystemMessage("You help.")]
        for number in range(turns):
            call = {"id": f"call_{number}", "name": TOOL, "args": ARGUMENTS}
            self._messages += [
                HumanMessage(PROMPT),
                AIMessage(content="", tool_calls=[call]),
                ToolMessage(NOTES, tool_call_id=f"call_{number}"),
                AIMessage(ANSWER),
            ]

    async def call(self) -> None:
        self._messages.append(HumanMessage(PROMPT))
        async for _ in self._model.astream(self._messages):
            pass
        self._messages.append(AIMessage(ANSWER))

    async def close(self) -> None:
        pass
