"""`callboard tools`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from callboard.contracts.commands.tool import GetToolInventory, ToolInventory
from callboard.contracts.entities.tool_inventory import ServerCondition, ServerState, ToolInfo
from callboard.contracts.text.sentences import format_count

from ..hosting.connection import connect
from ..state_folder import StateFolder
from .terminal.broad_folders import open_folder
from .terminal.exit_codes import FAILED
from .terminal.loop import run_async
from .terminal.options import BroadFolder, FolderOption, JsonObject, format_command_help
from .terminal.output import Style, mark_hidden, print_json, print_out, to_line

_DETAILS = """Tool servers (MCP) are set under [[servers]] in your settings.toml, or in the folder's
.callboard/settings.toml if you trust the folder. This verb starts them to read their tools. Exits with 1 if a tool
server is disconnected.

\b
Examples:
  callboard tools
  callboard tools --agent reviewer     tools of this agent
  callboard tools --json               one JSON object: agent, tools, servers
"""
_CONDITIONS: dict[ServerCondition, str] = {
    "idle": "not used yet",
    "connecting": "connecting",
    "connected": "connected",
    "lost": "disconnected",
}
_ORDER = ("loaded", "deferred", "blocked", "excluded")


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command(
        "tools", help=format_command_help("get_tool_inventory", _DETAILS), short_help="List the tools of an agent."
    )(_tools)


def _tools(
    folder: FolderOption = Path(),
    agent: Annotated[str, typer.Option("--agent", metavar="NAME", help="Agent. [default: the lead]")] = "",
    json: JsonObject = False,
    wide: BroadFolder = False,
) -> None:
    inventory = run_async(_read_inventory(folder, agent, wide=wide))
    if json:
        print_json(inventory)
    else:
        _print(inventory)
    if any(server.condition == "lost" for server in inventory.servers):
        raise typer.Exit(FAILED)


async def _read_inventory(folder: Path, agent: str, *, wide: bool) -> ToolInventory:
    state_folder = StateFolder.from_environment(os.environ)
    async with connect(state_folder, os.environ, lambda _: None) as client:
        opened = await open_folder(client.submit, folder, wide=wide)
        inventory: ToolInventory = await client.submit(GetToolInventory(workspace_id=opened.workspace_id, agent=agent))
        return inventory


def _print(inventory: ToolInventory) -> None:
    style = Style(sys.stdout)
    tools = {state: [tool for tool in inventory.tools if tool.availability == state] for state in _ORDER}
    counts = ", ".join(f"{len(listed)} {state}" for state, listed in tools.items() if listed)
    print_out(f"{mark_hidden(inventory.agent)}: {counts}")
    for server in inventory.servers:
        print_out(_format_server(server, style))
    width = max((len(tool.name) for tool in inventory.tools), default=0)
    for listed in tools.values():
        for tool in listed:
            print_out(_format_tool(tool, width, style))


def _format_server(server: ServerState, style: Style) -> str:
    name = f"{server.title} {server.version}".strip()
    refused = f", {server.refused} refused" if server.refused else ""
    is_connected = server.condition == "connected"
    state = f"{name}: {format_count(server.tools, 'tool')}{refused}" if is_connected else server.message
    details = "".join(f"\n      {to_line(refusal)}" for refusal in server.refusals)
    if server.prompts:
        details += f"\n      prompts, not offered to agents: {to_line(', '.join(server.prompts))}"
    return f"  server {mark_hidden(server.name)}  {_CONDITIONS[server.condition]}  {style.dim(to_line(state))}{details}"


def _format_tool(tool: ToolInfo, width: int, style: Style) -> str:
    effect = "reads" if tool.read_only else "may delete" if tool.destructive else "may change files"
    note = tool.reason or f"{effect}, {tool.concurrency}"
    return f"  {tool.availability.ljust(8)}  {mark_hidden(tool.name).ljust(width)}  {style.dim(to_line(note))}"
