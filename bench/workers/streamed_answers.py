"""Process that reads streamed answers for a long time: `python -m bench.workers.streamed_answers NAME FOLDER BASE_URL`.

`{"answers": n}` requests n streamed answers in one conversation. It answers with the resident bytes
and the CPU time in milliseconds.
"""

# pyright: reportMissingImports=false
from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import Any, Protocol

import uvloop

from bench.machine import resident, settle
from bench.rigs.conversation import PROMPT

#: Systems by module: name, and required library.
PEERS = {
    "openai_agents": ("OpenAI Agents SQLiteSession", "agents"),
    "agno": ("Agno SqliteDb", "agno"),
}


class Streaming(Protocol):
    """A system with one conversation, stored on disk."""

    async def open(self, folder: Path, base_url: str) -> None: ...

    async def answer(self) -> None: ...

    async def close(self) -> None: ...


class Ours:
    """Callboard with a client that follows the session."""

    async def open(self, folder: Path, base_url: str) -> None:
        from bench.rigs.board import Board, OneModel
        from callboard.app.hosting.process import share_time
        from callboard.models.wire import Endpoint, WireModel

        endpoint = Endpoint(provider="bench", base_url=base_url, api_key="none", window=10_000_000)
        model = WireModel(endpoint, "m")
        self._model = model
        self._board = Board(folder, models=OneModel(model))
        await self._board.open()
        await model.warm()
        share_time()
        self._session = ""
        self._client: asyncio.Task[None] | None = None

    async def answer(self) -> None:
        accepted = await self._board.submit(self._session or None)
        if not self._session:
            self._session = accepted.session_id
            self._client = asyncio.create_task(self._follow())
        ended = await self._board.until(accepted)
        if ended != "turn.completed":
            raise RuntimeError(f"the turn ended with {ended}")

    async def close(self) -> None:
        if self._client is not None:
            self._client.cancel()
            await asyncio.gather(self._client, return_exceptions=True)
        await self._board.close()
        await self._model.close()

    async def _follow(self) -> None:
        async for chunk in self._board.runtime.feeds.follow_ops(self._session, after=None):
            del chunk


class OpenAiAgents:
    async def open(self, folder: Path, base_url: str) -> None:
        from agents import Agent, OpenAIChatCompletionsModel, RunConfig, SQLiteSession
        from openai import AsyncOpenAI

        client = AsyncOpenAI(base_url=base_url, api_key="none", max_retries=0)
        self._agent = Agent(name="bench", model=OpenAIChatCompletionsModel("m", client))
        self._config = RunConfig(tracing_disabled=True)
        self._session = SQLiteSession("kept", folder / "peer.db")

    async def answer(self) -> None:
        from agents import Runner

        run: Any = Runner.run_streamed(self._agent, PROMPT, session=self._session, run_config=self._config)
        async for _ in run.stream_events():
            pass

    async def close(self) -> None:
        self._session.close()


class Agno:
    async def open(self, folder: Path, base_url: str) -> None:
        from agno.agent import Agent
        from agno.db.sqlite import SqliteDb
        from agno.models.openai import OpenAIChat

        self._agent = Agent(
            model=OpenAIChat(id="m", base_url=base_url, api_key="none"),
            db=SqliteDb(db_file=str(folder / "peer.db")),
            add_history_to_context=True,
            num_history_runs=1_000_000,
            telemetry=False,
        )

    async def answer(self) -> None:
        events: Any = self._agent.arun(PROMPT, session_id="kept", stream=True)
        async for _ in events:
            pass

    async def close(self) -> None:
        pass


async def work(streaming: Streaming, folder: Path, base_url: str) -> None:
    """Execute orders until the input ends."""
    await streaming.open(folder, base_url)
    settle()
    print(json.dumps("ready"), flush=True)
    while line := await asyncio.to_thread(sys.stdin.readline):
        worked = time.process_time()
        for _ in range(json.loads(line)["answers"]):
            await streaming.answer()
        worked = (time.process_time() - worked) * 1000
        print(json.dumps({"resident": resident(), "worked": worked}), flush=True)
    await streaming.close()


if __name__ == "__main__":
    kinds: dict[str, type[Streaming]] = {"callboard": Ours, "openai_agents": OpenAiAgents, "agno": Agno}
    uvloop.run(work(kinds[sys.argv[1]](), Path(sys.argv[2]), sys.argv[3]))
