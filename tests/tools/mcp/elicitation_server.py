"""A server, on the protocol's own package, that asks the user during a call or before it."""

from __future__ import annotations

from typing import Annotated, Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.resolve import Elicit, Resolve
from pydantic import BaseModel


class Where(BaseModel):
    """Form for a city."""

    city: str


class Login(BaseModel):
    """Form for a secret, which the protocol forbids."""

    user: str
    api_key: str


server = MCPServer("asking")


@server.tool()
async def look(ctx: Context[Any]) -> str:
    """Look in the city that the user names."""
    answer = await ctx.elicit("Which city?", Where)
    return answer.data.city if answer.action == "accept" else answer.action


@server.tool()
async def unlock(ctx: Context[Any]) -> str:
    """Ask for a secret during a call."""
    answer = await ctx.elicit("Log in.", Login)
    return answer.data.api_key if answer.action == "accept" else answer.action


def _login() -> Elicit[Login]:
    return Elicit("Log in.", Login)


@server.tool()
async def enter(login: Annotated[Login, Resolve(_login)]) -> str:
    """Ask for a secret before the call begins."""
    return login.api_key


def _where() -> Elicit[Where]:
    return Elicit("Which city?", Where)


@server.tool()
async def go(where: Annotated[Where, Resolve(_where)]) -> str:
    """Go to the city that the user names."""
    return where.city


if __name__ == "__main__":
    server.run()
