"""OpenAI Agents: the runner with a session in SQLite. Tracing, which would go to a server, is off."""

# pyright: reportMissingImports=false
from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from agents import Agent, ModelResponse, RunConfig, Runner, SQLiteSession, Usage, function_tool
from agents.models.interface import Model
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from bench.rigs.conversation import ANSWER, ARGUMENTS, NOTES, PROMPT, TOOL


class _Model(Model):
    """Model that answers immediately."""

    async def get_response(self, system_instructions: Any, input: Any, *_: Any, **__: Any) -> ModelResponse:
        output: Any
        if input[-1].get("type") == "function_call_output":
            text = ResponseOutputText(text=ANSWER, type="output_text", annotations=[])
            output = ResponseOutputMessage(
                id="msg_1", content=[text], role="assistant", status="completed", type="message"
            )
        else:
            output = ResponseFunctionToolCall(
                arguments=json.dumps(ARGUMENTS), call_id="call_1", name=TOOL, type="function_call", id="fc_1"
            )
        return ModelResponse(output=[output], usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError("the runner is not asked to stream")


@function_tool(name_override=TOOL)
def read(file_path: str) -> str:
    """Reads a file."""
    return NOTES


class Peer:
    async def open(self, folder: Path) -> None:
        self._path = folder / "peer.db"
        self._agent = Agent(name="bench", model=_Model(), tools=[read])
        self._config = RunConfig(tracing_disabled=True)
        self._sessions: dict[str, SQLiteSession] = {}

    async def turn(self, session: str) -> None:
        if session not in self._sessions:
            self._sessions[session] = SQLiteSession(session, self._path)
        await Runner.run(self._agent, PROMPT, session=self._sessions[session], run_config=self._config)

    async def close(self) -> None:
        for session in self._sessions.values():
            session.close()
