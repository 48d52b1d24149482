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

SCRIPTED = str(Path(__file__).with_name("scripted_server.py"))
ASKING = str(Path(__file__).with_name("elicitation_server.py"))
NEWEST = str(Path(__file__).with_name("newest_protocol_server.py"))
#: Maximum seconds that a test waits.
PATIENCE = 30.0


def scripted_server(place: Path, name: str = "scripted", **settings: Any) -> StdioServer:
    """Return the server of `scripted_server.py`, which records its calls in `place/calls`."""
    return StdioServer(name=name, command=(sys.executable, "-I", "-S", SCRIPTED, str(place / "calls")), **settings)


def python_server(name: str, code: str, **settings: Any) -> StdioServer:
    """Return a server that runs these lines of Python."""
    return StdioServer(name=name, command=(sys.executable, "-I", "-S", "-c", code), **settings)


def read_calls(place: Path) -> list[str]:
    """Return the calls that the server recorded."""
    file = place / "calls"
    return file.read_text().splitlines() if file.exists() else []


@asynccontextmanager
async def open_agent(
    folder: Path, *servers: Server, redaction: Callable[[], StreamRedaction] = PlainText, **context: Any
) -> AsyncIterator[Agent]:
    """Yield an agent whose folder has these servers, connected."""
    toolbox = FolderToolbox(patience=PATIENCE, new_redactor=redaction)
    agent = Agent(folder, toolbox, **{"servers": servers, **context})
    try:
        await toolbox.prepare(agent.context)
        yield agent
    finally:
        await toolbox.close()


async def call_tool(
    agent: Agent, tool: str, reporter: RecordingReporter | None = None, **arguments: Any
) -> ToolOutcome:
    """Evaluate and run an allowed call."""
    wanted = call(tool, **arguments)
    evaluation = await agent.toolbox.evaluate(wanted, agent.context)
    return await agent.toolbox.run(wanted, evaluation, agent.context, reporter or RecordingReporter([]))


def answering_reporter(*answers: str) -> RecordingReporter:
    """Return a reporter that gives these answers in order."""
    return RecordingReporter([], *(Reply(outcome="answer", answer=answer) for answer in answers))


async def wait_until(condition: Callable[[], bool]) -> None:
    """Wait until the condition is true."""
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110 - another process makes it true
            await asyncio.sleep(0.01)
