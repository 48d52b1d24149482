"""`callboard trust`."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from callboard.client.client import Client
from callboard.contracts.commands.trust import GetTrust, RevokeTrust, TrustChanged, TrustRead, TrustWorkspace
from callboard.contracts.errors import Refusal

from ..hosting.connection import connect
from ..state_folder import StateFolder
from .terminal.broad_folders import open_folder
from .terminal.exit_codes import DONE, REFUSED
from .terminal.loop import run_async
from .terminal.milestones import format_settings_problem
from .terminal.options import BroadFolder
from .terminal.output import Style, mark_hidden, print_err, print_out

_HELP = """Say whether a folder's own files may widen what holds in it.

A folder's .callboard/settings.toml and agents/*.md can always narrow what agents may do there. What they would widen holds only
once you have seen it and said yes, and no longer when it changes: rules that let calls through without asking, servers that
bring tools, wider permission modes, and what commands may take.

\b
Examples:
  callboard trust                     what this folder's files ask for; asks you
  callboard trust ~/src/project --yes
  callboard trust --revoke
  callboard trust --json              what they ask for, as JSON; changes nothing without --yes or --revoke
"""
_STATES = {
    "trusted": "trusted: all of this holds",
    "untrusted": "not trusted: none of this holds",
    "changed": "trusted for something else: none of this holds",
    "nothing": "its files widen nothing; there is nothing to trust",
}


def register(app: typer.Typer) -> None:
    """Adds the verb."""
    app.command("trust", help=_HELP)(_trust)


def _trust(
    folder: Annotated[Path, typer.Argument(help="The folder.", show_default="the one you are in")] = Path(),
    revoke: Annotated[bool, typer.Option("--revoke", help="Let its files widen nothing any more.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Trust it for what is shown, without asking.")] = False,
    json: Annotated[bool, typer.Option("--json", help="What its files ask for, as JSON.")] = False,
    wide: BroadFolder = False,
) -> int:
    if revoke and yes:
        raise Refusal("invalid_input", "--revoke and --yes say opposite things.", field="--yes", hint="Give one.")
    folder = folder.expanduser().absolute()
    if not folder.is_dir():
        raise Refusal("no_folder", f"{folder} is not a folder.", field="FOLDER", hint="Give an existing folder.")
    return run_async(_carry_out(folder, revoke=revoke, yes=yes, json=json, wide=wide))


async def _carry_out(folder: Path, *, revoke: bool, yes: bool, json: bool, wide: bool) -> int:
    home = StateFolder.from_environment(os.environ)
    async with connect(home, os.environ, lambda _: None) as client:
        opened = await open_folder(client.submit, folder, wide=wide, asks=not yes)
        read: TrustRead = await client.submit(GetTrust(workspace_id=opened.workspace_id))
        if revoke:
            await client.submit(RevokeTrust(workspace_id=opened.workspace_id, reason="callboard trust --revoke"))
            read = await client.submit(GetTrust(workspace_id=opened.workspace_id))
        elif yes and read.digest:
            read = await _given(client, read)
        if json:
            print_out(msgspec.json.encode(read).decode())
            return DONE
        _print(read)
        if revoke or yes or read.state in ("trusted", "nothing"):
            return DONE
        return await _asked(client, read)


async def _asked(client: Client, read: TrustRead) -> int:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        print_err("Nobody is here to say so. `callboard trust --yes` trusts it for exactly this.")
        return REFUSED
    print_err("Let its files do exactly this? [y/N] ", end="")
    answer = await asyncio.to_thread(sys.stdin.readline)
    if answer.strip().casefold() not in ("y", "yes"):
        print_err("Not trusted; nothing changed.")
        return REFUSED
    await _given(client, read)
    print_err("Trusted. When its files ask for something else, they are asked about anew.")
    return DONE


async def _given(client: Client, read: TrustRead) -> TrustRead:
    """Trusts the folder for what was shown. Raises Refusal `trust_changed` where its files changed since."""
    _: TrustChanged = await client.submit(TrustWorkspace(workspace_id=read.workspace_id, digest=read.digest))
    return await client.submit(GetTrust(workspace_id=read.workspace_id))


def _print(read: TrustRead) -> None:
    style = Style(sys.stdout)
    print_out(f"{style.bold(mark_hidden(read.folder))}: {_STATES[read.state]}")
    width = max((len(one.file) for one in read.widenings), default=0)
    for one in read.widenings:
        print_out(f"  {style.dim(mark_hidden(one.file).ljust(width))}  {mark_hidden(one.detail)}")
    for problem in read.problems:
        print_out(style.warn(f"  {mark_hidden(format_settings_problem(problem))}"))
