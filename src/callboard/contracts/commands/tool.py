"""Queries of tools and tool servers."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from ..entities.tool_inventory import ServerState, ToolInfo
from .base import Answer, Command, Id, command


class ToolInventory(Answer, frozen=True, kw_only=True):
    """All tools by name, and the tool servers that provide some."""

    agent: str
    tools: tuple[ToolInfo, ...]
    servers: tuple[ServerState, ...]


@command("get_tool_inventory", ToolInventory, authority="anyone", query=True, waits=True, live=True)
class GetToolInventory(Command, frozen=True, kw_only=True):
    """List the tools of an agent as loaded, deferred, blocked or excluded, each with its reason and behaviour.

    With `session_id` the inventory belongs to a thread's newest run; `thread_id` defaults to the lead's. With a
    workspace it belongs to a definition in a chat in its own permission mode.
    """

    session_id: Id | None = None
    thread_id: Id | None = None
    workspace_id: Id | None = None
    agent: Annotated[str, Meta(max_length=200)] = ""


class ServerList(Answer, frozen=True, kw_only=True):
    """The tool servers, in the order of the settings."""

    servers: tuple[ServerState, ...]


@command("list_servers", ServerList, serial="workspace", authority="anyone", query=True, live=True)
class ListServers(Command, frozen=True, kw_only=True):
    """List the tool servers of a workspace, with their errors."""

    workspace_id: Id


class ServerChanged(Answer, frozen=True, kw_only=True):
    """The tool server after the attempt, connected or lost."""

    server: ServerState


@command("reconnect_server", ServerChanged, serial="workspace")
class ReconnectServer(Command, frozen=True, kw_only=True):
    """Disconnect from a tool server and connect again."""

    workspace_id: Id
    server: Annotated[str, Meta(min_length=1, max_length=64)]
