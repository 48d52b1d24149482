"""Servers over streamable HTTP: one on the protocol's own package, and faulty ones."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any

import uvicorn
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.resolve import Elicit, Resolve
from mcp_types import ToolAnnotations
from pydantic import BaseModel
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from callboard.contracts.settings import HttpServer
from callboard.tools.toolbox import FolderToolbox
from tests.tools.mcp.servers import PATIENCE, answering_reporter, call_tool, open_agent
from tests.tools.rigs.calls import Agent, RecordingReporter


class Size(BaseModel):
    size: int


def ask_size() -> Elicit[Size]:
    return Elicit("How large?", Size)


def build_shop(events: list[str]) -> MCPServer:
    server = MCPServer("shop", version="2.0")

    @server.tool(annotations=ToolAnnotations(read_only_hint=True))
    def echo(text: str) -> str:
        """Repeat the text."""
        return text

    @server.tool()
    async def count(ctx: Context[Any]) -> str:
        """Count, with progress."""
        for done in (1, 2, 3):
            await ctx.report_progress(done, 3, f"{done} of 3")
        return "counted"

    @server.tool()
    async def measure(size: Annotated[Size, Resolve(ask_size)]) -> str:
        """Ask for a size before the call."""
        return size.model_dump_json()

    @server.tool()
    async def weigh(ctx: Context[Any]) -> str:
        """Ask for a size during the call."""
        return (await ctx.elicit("How large?", Size)).action

    @server.tool()
    async def hang() -> str:
        """Never end."""
        events.append("called")
        try:
            await asyncio.Event().wait()
        finally:
            events.append("cancelled")
        return ""

    return server


@asynccontextmanager
async def open_shop(folder: Path, events: list[str]) -> AsyncIterator[Agent]:
    """Yield an agent that is connected to the server."""
    async with (
        serve_app(build_shop(events).streamable_http_app()) as url,
        open_agent(folder, HttpServer(name="shop", url=f"{url}/mcp")) as agent,
    ):
        yield agent


@asynccontextmanager
async def serve_app(app: Any) -> AsyncIterator[str]:
    """Serve the application on a port of this machine."""
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1))
    running = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        await running


async def wait_for_event(events: list[str], event: str) -> None:
    async with asyncio.timeout(PATIENCE):
        while event not in events:  # noqa: ASYNC110 - a server in the same loop appends it
            await asyncio.sleep(0.01)


async def test_a_remote_tool_reports_progress_and_asks(folder: Path) -> None:
    events: list[str] = []
    async with open_shop(folder, events) as agent:
        (state,) = agent.toolbox.list_servers(agent.context)
        assert (state.condition, state.title, state.version, state.transport) == (
            "connected",
            "shop",
            "2.0",
            "http",
        )
        assert (await call_tool(agent, "mcp__shop__echo", text="hello")).output == "hello"
        reporter = RecordingReporter([])
        assert (await call_tool(agent, "mcp__shop__count", reporter)).output == "counted"
        assert reporter.progress_reports == [(1.0, 3.0, "1 of 3"), (2.0, 3.0, "2 of 3"), (3.0, 3.0, "3 of 3")]
        assert json.loads((await call_tool(agent, "mcp__shop__measure", answering_reporter("7"))).output) == {"size": 7}
        assert (await call_tool(agent, "mcp__shop__weigh", answering_reporter("7"))).output == "accept"


async def test_a_stopped_remote_call_is_cancelled_at_the_server(folder: Path) -> None:
    events: list[str] = []
    async with open_shop(folder, events) as agent:
        task = asyncio.create_task(call_tool(agent, "mcp__shop__hang"))
        await wait_for_event(events, "called")
        task.cancel()
        await asyncio.wait([task])
        await wait_for_event(events, "cancelled")


async def test_headers_contain_the_values_of_their_handles(folder: Path) -> None:
    heard: list[str] = []

    async def hear(request: Request) -> Response:
        heard.append(request.headers.get("authorization", ""))
        return PlainTextResponse("no", 401)

    app = Starlette(routes=[Route("/mcp", hear, methods=["GET", "POST", "DELETE"])])
    async with serve_app(app) as url:
        server = HttpServer(name="shop", url=f"{url}/mcp", headers={"Authorization": "secret://shop"})
        toolbox = FolderToolbox(
            reveal=lambda _, text: "Bearer abc" if text == "secret://shop" else text, patience=PATIENCE
        )
        agent = Agent(folder, toolbox, servers=(server,))
        await toolbox.prepare(agent.context)
        (state,) = toolbox.list_servers(agent.context)
        await toolbox.close()
    assert set(heard) == {"Bearer abc"}
    assert (state.condition, state.message) == ("lost", "It responded with 401: it requires authorisation.")


async def test_an_endless_answer_ends_the_connection(folder: Path) -> None:
    async def flood(_: Request) -> Response:
        async def much() -> AsyncIterator[bytes]:
            for _ in range(64):
                yield b"x" * 1_000_000

        return StreamingResponse(much(), media_type="application/json")

    app = Starlette(routes=[Route("/mcp", flood, methods=["GET", "POST", "DELETE"])])
    async with serve_app(app) as url, open_agent(folder, HttpServer(name="flood", url=f"{url}/mcp")) as agent:
        (state,) = agent.toolbox.list_servers(agent.context)
        assert state.condition == "lost"
        assert "It sent a response of more than" in state.message


async def test_an_unreachable_address_is_reported(folder: Path) -> None:
    async with open_agent(folder, HttpServer(name="ghost", url="http://127.0.0.1:9/mcp")) as agent:
        (state,) = agent.toolbox.list_servers(agent.context)
        assert (state.condition, state.code) == ("lost", "server_unavailable")
