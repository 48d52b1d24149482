"""A server on the protocol's own package, with resources, a prompt and a tool for tasks only."""

from __future__ import annotations

from typing import Any

import anyio
from mcp.server.mcpserver import Context, MCPServer
from mcp_types import ToolExecution

server = MCPServer("library")


@server.tool()
def number() -> int:
    """Return a number."""
    return 5


@server.tool()
def items() -> list[str]:
    """Return a list."""
    return ["one", "two"]


@server.tool()
def record(title: str, default: str = "x") -> dict[str, Any]:
    """Return an object."""
    return {"title": title, "default": default}


@server.tool()
async def roots(ctx: Context[Any]) -> str:
    """Return the roots of the client."""
    session = ctx.session
    result = await session.list_roots()
    return "\n".join(f"{root.uri} {root.name}" for root in result.roots)


@server.tool()
def capabilities(ctx: Context[Any]) -> str:
    """Return which capabilities the client declared."""
    params = ctx.session.client_params
    return " ".join(sorted(params.capabilities.model_dump(exclude_none=True))) if params else ""


@server.tool()
def slow() -> str:
    """Run only as a task."""
    return "never"


@server.resource("notes://today", mime_type="text/plain")
def today() -> str:
    """Return the notes of today."""
    return "Water the plants."


@server.resource("notes://days/{day}")
def day(day: str) -> str:
    """Return the notes of a day."""
    return f"Nothing on {day}."


@server.prompt()
def review() -> str:
    """Review a change."""
    return "Review it."


async def main() -> None:
    """Declare `slow` as a task, as the protocol of 2025-11-25 does, and serve."""
    listed = server.list_tools

    async def list_tools() -> Any:
        tools = await listed()
        task = ToolExecution(task_support="required")
        return [tool.model_copy(update={"execution": task}) if tool.name == "slow" else tool for tool in tools]

    server.list_tools = list_tools
    await server.run_stdio_async()


if __name__ == "__main__":
    anyio.run(main)
