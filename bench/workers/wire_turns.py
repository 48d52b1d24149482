"""Process that runs turns over HTTP in one system: `python -m bench.workers.wire_turns NAME FOLDER BASE_URL`.

`{"new": n}` runs n turns, each in a new session. It answers with the milliseconds of each, and with the CPU time in
milliseconds of all and since the last answer. Callboard runs first: the others send the messages and tools of its newest turn.
"""

# pyright: reportMissingImports=false
from __future__ import annotations

import asyncio
import gc
import json
import sys
import time
import urllib.request
from itertools import count
from pathlib import Path
from typing import Any

import uvloop

from bench.machine import CpuTime, settle
from bench.peers import Turning
from bench.rigs.conversation import ANSWER


class Ours:
    """Callboard with its own client, its store, its gate and the real Read."""

    def __init__(self, base_url: str) -> None:
        self._base_url = base_url

    async def open(self, folder: Path) -> None:
        from bench.rigs.board import Board, OneModel
        from callboard.app.hosting.process import share_time
        from callboard.models.wire import Endpoint, WireModel

        endpoint = Endpoint(provider="bench", base_url=self._base_url, api_key="none")
        self._model = WireModel(endpoint, "m")
        self._board = Board(folder, models=OneModel(self._model))
        await self._board.open()
        await self._model.warm()
        share_time()

    async def turn(self, session: str) -> None:
        ended = await self._board.until(await self._board.submit(None))
        if ended != "turn.completed":
            raise RuntimeError(f"the turn ended with {ended}")

    async def close(self) -> None:
        await self._board.close()
        await self._model.close()


class Client:
    """The official client of OpenAI alone: two streamed requests and a function. Nothing is stored."""

    def __init__(self, base_url: str) -> None:
        self._base_url = base_url

    async def open(self, folder: Path) -> None:
        from openai import AsyncOpenAI

        self._first, second = await read_newest_turn(self._base_url)
        self._result: str = second["messages"][-1]["content"]
        self._client = AsyncOpenAI(base_url=self._base_url, api_key="none", max_retries=0)

    async def turn(self, session: str) -> None:
        messages = list(self._first["messages"])
        _, (call,) = await self._ask(messages)
        arguments = json.loads(call["function"]["arguments"])
        result = {"role": "tool", "tool_call_id": call["id"], "content": self._read(**arguments)}
        text, _ = await self._ask([*messages, {"role": "assistant", "content": None, "tool_calls": [call]}, result])
        check_answer(text)

    async def close(self) -> None:
        await self._client.close()

    def _read(self, file_path: str) -> str:
        return self._result

    async def _ask(self, messages: list[dict[str, Any]]) -> tuple[str, list[dict[str, Any]]]:
        """Return the text and the tool calls of a streamed answer."""
        texts: list[str] = []
        calls: dict[int, dict[str, Any]] = {}
        chunks: Any = await self._client.chat.completions.create(**{**self._first, "messages": messages})
        async for chunk in chunks:
            for choice in chunk.choices:
                texts.append(choice.delta.content or "")
                for part in choice.delta.tool_calls or ():
                    function = {"name": part.function.name, "arguments": ""}
                    call = calls.setdefault(part.index, {"id": part.id, "type": "function", "function": function})
                    call["function"]["arguments"] += part.function.arguments or ""
        return "".join(texts), list(calls.values())


class Agents:
    """OpenAI Agents with its session in SQLite, on the same client."""

    def __init__(self, base_url: str) -> None:
        self._base_url = base_url

    async def open(self, folder: Path) -> None:
        from agents import Agent, FunctionTool, ModelSettings, OpenAIChatCompletionsModel, RunConfig, SQLiteSession
        from openai import AsyncOpenAI

        first, second = await read_newest_turn(self._base_url)
        result: str = second["messages"][-1]["content"]

        async def read(context: Any, arguments: str) -> str:
            json.loads(arguments)
            return result

        tools = [
            FunctionTool(
                name=tool["function"]["name"],
                description=tool["function"]["description"],
                params_json_schema=tool["function"]["parameters"],
                on_invoke_tool=read,
                strict_json_schema=False,
            )
            for tool in first["tools"]
        ]
        system = [message["content"] for message in first["messages"] if message["role"] == "system"]
        self._prompt: str = first["messages"][-1]["content"]
        self._client = AsyncOpenAI(base_url=self._base_url, api_key="none", max_retries=0)
        model = OpenAIChatCompletionsModel("m", self._client)
        settings = ModelSettings(parallel_tool_calls=False, include_usage=True)
        instructions = "\n\n".join(system)
        self._agent: Any = Agent(
            name="bench", instructions=instructions, model=model, model_settings=settings, tools=[*tools]
        )
        self._config = RunConfig(tracing_disabled=True)
        self._create = lambda session: SQLiteSession(session, folder / "peer.db")

    async def turn(self, session: str) -> None:
        from agents import Runner

        stored = self._create(session)
        run: Any = Runner.run_streamed(self._agent, self._prompt, session=stored, run_config=self._config)
        async for _ in run.stream_events():
            pass
        check_answer(run.final_output)
        stored.close()

    async def close(self) -> None:
        await self._client.close()


async def read_newest_turn(base_url: str) -> list[dict[str, Any]]:
    """Return the two requests of the newest turn that the provider received."""
    return (await read_requests(base_url))["newest"]


async def read_requests(base_url: str) -> Any:
    """Return the number of the provider's requests, and the newest two."""

    def read() -> Any:
        with urllib.request.urlopen(base_url.removesuffix("/turn/v1") + "/requests") as answer:
            return json.load(answer)

    return await asyncio.to_thread(read)


def check_answer(text: str) -> None:
    """Raise RuntimeError unless the text is the provider's."""
    if text.strip() != ANSWER:
        raise RuntimeError(f"the turn ended with {text!r}")


async def work(system: Turning, folder: Path) -> None:
    """Execute orders until the input ends."""
    await system.open(folder)
    await system.turn("warm-up")
    settle()
    numbers = count(1)
    cpu = CpuTime()
    print(json.dumps("ready"), flush=True)
    while line := await asyncio.to_thread(sys.stdin.readline):
        spent: list[float] = []
        later = cpu.lap()
        gc.collect()
        cpu.lap()
        for _ in range(json.loads(line)["new"]):
            began = time.perf_counter()
            await system.turn(f"new-{next(numbers)}")
            spent.append((time.perf_counter() - began) * 1000)
        print(json.dumps({"spent": spent, "worked": cpu.lap(), "later": later}), flush=True)
    await system.close()


SYSTEMS: dict[str, type[Ours | Client | Agents]] = {"callboard": Ours, "openai": Client, "openai_agents": Agents}


if __name__ == "__main__":
    uvloop.run(work(SYSTEMS[sys.argv[1]](sys.argv[3]), Path(sys.argv[2])))
