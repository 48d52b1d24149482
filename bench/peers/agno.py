"""Agno: the agent with its runs in SQLite. It writes the whole row of a session at the end of each run."""

# pyright: reportMissingImports=false
from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agno.agent import Agent
from agno.db.sqlite import SqliteDb
from agno.models.base import Model
from agno.models.response import ModelResponse

from bench.peers import SYNCHRONOUS
from bench.rigs.conversation import ANSWER, ARGUMENTS, NOTES, PROMPT, TOOL

#: Above the number of runs of any session: the model receives all of them.
ALL_RUNS = 1_000_000


@dataclass
class _Model(Model):
    """Model that answers immediately."""

    id: str = "at-once"

    def invoke(self, *_: Any, messages: Any = (), **__: Any) -> ModelResponse:
        if messages[-1].role == "tool":
            return ModelResponse(role="assistant", content=ANSWER)
        function = {"name": TOOL, "arguments": json.dumps(ARGUMENTS)}
        return ModelResponse(role="assistant", tool_calls=[{"id": "call_1", "type": "function", "function": function}])

    async def ainvoke(self, *args: Any, **named: Any) -> ModelResponse:
        return self.invoke(*args, **named)

    def invoke_stream(self, *_: Any, **__: Any) -> Iterator[ModelResponse]:
        raise NotImplementedError("the agent is not asked to stream")

    def ainvoke_stream(self, *_: Any, **__: Any) -> AsyncIterator[ModelResponse]:
        raise NotImplementedError("the agent is not asked to stream")

    def _parse_provider_response(self, response: Any, **_: Any) -> ModelResponse:
        return response

    def _parse_provider_response_delta(self, response: Any) -> ModelResponse:
        return response


def read(file_path: str) -> str:
    """Reads a file."""
    return NOTES


read.__name__ = TOOL


class Peer:
    async def open(self, folder: Path) -> None:
        self._db: Any = SqliteDb(db_file=str(folder / "peer.db"))
        self._agent = Agent(
            model=_Model(),
            tools=[read],
            db=self._db,
            add_history_to_context=True,
            num_history_runs=ALL_RUNS,
            telemetry=False,
        )

    async def turn(self, session: str) -> None:
        await self._agent.arun(PROMPT, session_id=session)

    async def read_settings(self) -> list[str]:
        with self._db.db_engine.connect() as connection:
            (mode,) = connection.exec_driver_sql("PRAGMA journal_mode").fetchone()
            (level,) = connection.exec_driver_sql("PRAGMA synchronous").fetchone()
        return [mode, SYNCHRONOUS[level]]

    async def close(self) -> None:
        pass
