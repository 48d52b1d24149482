"""`callboard tools`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from callboard.contracts.commands.tooling import GetToolInventory, ToolInventory
from callboard.contracts.entities.tool_inventory import ServerState, ToolInfo

from ..hosting.connection import connect
from ..state_folder import StateFolder
from .terminal.broad_folders import open_folder
from .terminal.exit_codes import FAILED
from .terminal.loop import run_async
from .terminal.options import BroadFolder
from .terminal.output import Style, mark_hidden, print_out, to_line
from .terminal.wording import format_count

_HELP = """List the tools of an agent in a folder: those that it is told of, those that it could have and why not.

Servers of tools (MCP) stand under [[servers]] in your settings.toml, or in a folder's .callboard/settings.toml, where they hold
once you trust the folder. They are started to tell what they bring. Ends with 1 when one of them is lost.

\b
Examples:
  callboard tools
  callboard tools --agent reviewer     as that agent has them
  callboard tools --json               one JSON object: agent, tools, servers
"""
_ORDER = ("loaded", "deferred", "blocked", "excluded")


def register(app: typer.Typer) -> None:
    """Adds the verb."""
    app.command("tools", help=_HELP, short_help="List the tools of an agent, and the servers of tools.")(_tools)


def _tools(
    folder: Annotated[Path, typer.Option("--folder", "-C", help="The folder.")] = Path(),
    agent: Annotated[
        str, typer.Option("--agent", metavar="NAME", help="The agent; the lead where none is named.")
    ] = "",
    json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
    wide: BroadFolder = False,
) -> None:
    found = run_async(_inventory(folder.expanduser().absolute(), agent, wide=wide))
    if json:
        print_out(msgspec.json.encode(found).decode())
    else:
        _print(found)
    if any(server.condition == "lost" for server in found.servers):
        raise typer.Exit(FAILED)


async def _inventory(folder: Path, agent: str, *, wide: bool) -> ToolInventory:
    home = StateFolder.from_environment(os.environ)
    async with connect(home, os.environ, lambda _: None) as client:
        opened = await open_folder(client.submit, folder, wide=wide)
        found: ToolInventory = await client.submit(GetToolInventory(workspace_id=opened.workspace_id, agent=agent))
        return found


def _print(found: ToolInventory) -> None:
    style = Style(sys.stdout)
    counts = ((len([one for one in found.tools if one.availability == how]), how) for how in _ORDER)
    print_out(f"{mark_hidden(found.agent)}: {', '.join(f'{count} {how}' for count, how in counts if count)}")
    for server in found.servers:
        print_out(_server(server, style))
    longest = max((len(one.name) for one in found.tools), default=0)
    for how in _ORDER:
        for one in found.tools:
            if one.availability == how:
                print_out(_tool(one, longest, style))


def _server(server: ServerState, style: Style) -> str:
    named = f"{server.title} {server.version}".strip()
    refused = f", {server.refused} refused" if server.refused else ""
    told = (
        f"{named}: {format_count(server.tools, 'tool')}{refused}" if server.condition == "connected" else server.message
    )
    why = "".join(f"\n      {to_line(one)}" for one in server.refusals)
    if server.prompts:
        why += f"\n      prompts, not offered to agents: {to_line(', '.join(server.prompts))}"
    return f"  server {mark_hidden(server.name)}  {server.condition}  {style.dim(to_line(told))}{why}"


def _tool(one: ToolInfo, longest: int, style: Style) -> str:
    does = "reads" if one.read_only else "may destroy" if one.destructive else "may change"
    told = one.reason or f"{does}, {one.concurrency}"
    return f"  {one.availability.ljust(8)}  {mark_hidden(one.name).ljust(longest)}  {style.dim(to_line(told))}"
