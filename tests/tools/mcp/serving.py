"""Servers that tests connect to, and an agent in a folder that has them."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from callboard.contracts.ports.secrets import StreamRedaction
from callboard.contracts.ports.tools import Reply, ToolOutcome
from callboard.contracts.settings import Server, StdioServer
from callboard.tools.mcp.server_log import PlainText
from callboard.tools.toolbox import FolderToolbox
from tests.tools.rigs.calls import Agent, RecordingReporter, call

SCRIPTED = str(Path(__file__).with_name("scripted.py"))
ASKING = str(Path(__file__).with_name("asking.py"))
NEWEST = str(Path(__file__).with_name("newest.py"))
#: Maximum seconds that a test waits.
PATIENCE = 30.0


def scripted_server(place: Path, name: str = "scripted", **settings: Any) -> StdioServer:
    """Return the server of `scripted.py`, which records its calls in `place/calls`."""
    return StdioServer(name=name, command=(sys.executable, "-I", "-S", SCRIPTED, str(place / "calls")), **settings)


def python_server(name: str, code: str, **settings: Any) -> StdioServer:
    """A server that is these lines of Python."""
    return StdioServer(name=name, command=(sys.executable, "-I", "-S", "-c", code), **settings)


def read_calls(place: Path) -> list[str]:
    """Return the calls that the server recorded."""
    file = place / "calls"
    return file.read_text().splitlines() if file.exists() else []


@asynccontextmanager
async def open_agent(
    folder: Path, *servers: Server, veil: Callable[[], StreamRedaction] = PlainText, **context: Any
) -> AsyncIterator[Agent]:
    """Return an agent whose folder has these servers, connected."""
    toolbox = FolderToolbox(patience=PATIENCE, new_redactor=veil)
    agent = Agent(folder, toolbox, **{"servers": servers, **context})
    try:
        await toolbox.prepare(agent.context)
        yield agent
    finally:
        await toolbox.close()


async def call_tool(agent: Agent, tool: str, told: RecordingReporter | None = None, **arguments: Any) -> ToolOutcome:
    """A call that the gate lets through."""
    wanted = call(tool, **arguments)
    evaluation = await agent.toolbox.evaluate(wanted, agent.context)
    return await agent.toolbox.run(wanted, evaluation, agent.context, told or RecordingReporter([]))


def answering_reporter(*said: str) -> RecordingReporter:
    """A person who answers so, one after the other."""
    return RecordingReporter([], *(Reply(outcome="answer", answer=one) for one in said))


async def wait_until(holds: Callable[[], bool]) -> None:
    """Wait until the condition is true."""
    async with asyncio.timeout(PATIENCE):
        while not holds():  # noqa: ASYNC110 - what is waited for is in another process
            await asyncio.sleep(0.01)
