"""A server on the protocol's own package that asks a person: by itself in the middle of a call, or before it begins."""

from __future__ import annotations

from typing import Annotated, Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.resolve import Elicit, Resolve
from pydantic import BaseModel


class Where(BaseModel):
    """What is asked for."""

    city: str


class Login(BaseModel):
    """What no server may ask for by a form."""

    user: str
    api_key: str


server = MCPServer("asking")


@server.tool()
async def look(ctx: Context[Any]) -> str:
    """Looks where the person says."""
    answer = await ctx.elicit("Which city?", Where)
    return answer.data.city if answer.action == "accept" else answer.action


@server.tool()
async def unlock(ctx: Context[Any]) -> str:
    """Asks for a secret in the middle of a call."""
    answer = await ctx.elicit("Log in.", Login)
    return answer.data.api_key if answer.action == "accept" else answer.action


def _login() -> Elicit[Login]:
    return Elicit("Log in.", Login)


@server.tool()
async def enter(login: Annotated[Login, Resolve(_login)]) -> str:
    """Asks for a secret before the call begins."""
    return login.api_key


def _where() -> Elicit[Where]:
    return Elicit("Which city?", Where)


@server.tool()
async def go(where: Annotated[Where, Resolve(_where)]) -> str:
    """Goes where the person says."""
    return where.city


if __name__ == "__main__":
    server.run()
