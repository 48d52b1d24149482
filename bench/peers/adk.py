"""Google ADK: the runner with its sessions in SQLite."""

# pyright: reportMissingImports=false
from __future__ import annotations

import logging
import warnings
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner
from google.adk.sessions.sqlite_session_service import SqliteSessionService
from google.genai import types

from bench.rigs.conversation import ANSWER, ARGUMENTS, NOTES, PROMPT, TOOL

APP, USER = "bench", "person"


class _Model(BaseLlm):
    """Model that answers immediately."""

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        last = (llm_request.contents[-1].parts or [types.Part()])[0]
        if last.function_response is not None:
            part = types.Part(text=ANSWER)
        else:
            part = types.Part(function_call=types.FunctionCall(name=TOOL, args=dict(ARGUMENTS)))
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


def read(file_path: str) -> str:
    """Reads a file."""
    return NOTES


read.__name__ = TOOL


class Peer:
    async def open(self, folder: Path) -> None:
        warnings.simplefilter("ignore")
        logging.getLogger("google_adk").setLevel(logging.ERROR)
        self._sessions = SqliteSessionService(str(folder / "peer.db"))
        agent = LlmAgent(name="bench", model=_Model(model="at-once"), tools=[read])
        self._runner = Runner(app_name=APP, agent=agent, session_service=self._sessions)
        self._created: set[str] = set()

    async def turn(self, session: str) -> None:
        if session not in self._created:
            await self._sessions.create_session(app_name=APP, user_id=USER, session_id=session)
            self._created.add(session)
        message = types.Content(role="user", parts=[types.Part(text=PROMPT)])
        events: Any = self._runner.run_async(user_id=USER, session_id=session, new_message=message)
        async for _ in events:
            pass

    async def close(self) -> None:
        await self._runner.close()
