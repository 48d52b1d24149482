"""The commands of tools, their servers and processes."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from ..entities.tool_inventory import ServerState, ToolInfo
from .base import Answer, Command, Declaration
from .turns import Id


class GetToolInventory(Command, frozen=True, kw_only=True):
    """Which tools an agent has. With `session_id` it is that of a thread as its newest run has it, the lead's where none is
    named; without, that of a definition in a workspace, as a chat in its own permission mode would have it."""

    session_id: Id | None = None
    thread_id: Id | None = None
    workspace_id: Id | None = None
    agent: Annotated[str, Meta(max_length=200)] = ""


class ToolInventory(Answer, frozen=True, kw_only=True):
    """Every tool by its name, and the servers that bring some."""

    agent: str
    tools: tuple[ToolInfo, ...]
    servers: tuple[ServerState, ...]


class ListServers(Command, frozen=True, kw_only=True):
    """The servers of tools that hold in a workspace."""

    workspace_id: Id


class ServerList(Answer, frozen=True, kw_only=True):
    """In the order of the settings."""

    servers: tuple[ServerState, ...]


class ReconnectServer(Command, frozen=True, kw_only=True):
    """Let go of a server of tools and connect to it anew."""

    workspace_id: Id
    server: Annotated[str, Meta(min_length=1, max_length=64)]


class ServerAnswer(Answer, frozen=True, kw_only=True):
    """The server after that, connected or lost."""

    server: ServerState


TOOLING_TABLE: tuple[Declaration, ...] = (
    Declaration(
        name="get_tool_inventory",
        command=GetToolInventory,
        answer=ToolInventory,
        serial="session",
        authority="anyone",
        query=True,
        waits=True,
        summary="The tools of an agent: loaded, deferred, blocked, excluded, each with its reason and how it behaves.",
    ),
    Declaration(
        name="list_servers",
        command=ListServers,
        answer=ServerList,
        serial="workspace",
        authority="anyone",
        query=True,
        summary="The servers of tools of a workspace, and what is wrong with them.",
    ),
    Declaration(
        name="reconnect_server",
        command=ReconnectServer,
        answer=ServerAnswer,
        serial="workspace",
        summary="Connect to a server of tools anew.",
    ),
)
