"""`callboard trust`."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from callboard.client import Client
from callboard.contracts.commands.permission import GetTrust, RevokeTrust, TrustChanged, TrustRead, TrustWorkspace
from callboard.contracts.errors import Refusal
from callboard.contracts.settings import SettingsProblem

from ..hosting.connection import connect
from ..settings.folder_file import FILE
from ..settings.problems import describe_effect, describe_problem
from ..state_folder import StateFolder
from .terminal.broad_folders import open_folder
from .terminal.exit_codes import DONE, REFUSED
from .terminal.loop import run_async
from .terminal.milestones import format_settings_problem
from .terminal.options import BroadFolder, JsonObject, resolve_folder
from .terminal.output import Style, mark_hidden, print_err, print_json, print_out

_HELP = """Show the permissions that a folder's own files request; grant or revoke them.

A folder's .callboard/settings.toml and agents/*.md can always narrow what agents may do. They can request more: rules
that allow calls, tool servers, broader permission modes, higher command limits. A request applies only after you
trust the folder, and stops when the request changes.

\b
Examples:
  callboard trust                     show the requests of this folder and ask
  callboard trust ~/src/project --yes
  callboard trust --revoke
  callboard trust --json              show the requests as JSON; change nothing without --yes or --revoke
"""
_STATES = {
    "trusted": "trusted: all requests apply",
    "untrusted": "not trusted: no request applies",
    "changed": "changed since you trusted it: no request applies",
    "nothing": "its files request nothing",
}
_INVALID = "its settings file is invalid, so its requests are unknown"


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("trust", help=_HELP, short_help="Show or change the trust in a folder's own files.")(_trust)


def _trust(
    folder: Annotated[Path, typer.Argument(help="Project folder. [default: .]", show_default=False)] = Path(),
    revoke: Annotated[bool, typer.Option("--revoke", help="Revocation of the trust in the folder.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Trust without a question.")] = False,
    json: JsonObject = False,
    wide: BroadFolder = False,
) -> int:
    if revoke and yes:
        raise Refusal("invalid_input", "--revoke and --yes exclude each other.", field="--yes", hint="Give one.")
    path = resolve_folder(folder, "FOLDER")
    return run_async(_run(path, revoke=revoke, yes=yes, json=json, wide=wide))


async def _run(folder: Path, *, revoke: bool, yes: bool, json: bool, wide: bool) -> int:
    state_folder = StateFolder.from_environment(os.environ)
    async with connect(state_folder, os.environ, lambda _: None) as client:
        opened = await open_folder(client.submit, folder, wide=wide, asks=not yes)
        query = GetTrust(workspace_id=opened.workspace_id)
        read: TrustRead = await client.submit(query)
        if not revoke:
            _check_valid(read)
        if revoke:
            await client.submit(RevokeTrust(workspace_id=opened.workspace_id, reason="callboard trust --revoke"))
            read = await client.submit(query)
        elif yes and read.digest:
            await _grant(client, read)
            read = await client.submit(query)
        if json:
            print_json(read)
            return DONE
        _print(read)
        if revoke or yes or read.state in ("trusted", "nothing"):
            return DONE
        return await _ask(client, read)


def _check_valid(read: TrustRead) -> None:
    """Raise Refusal `bad_settings` if the folder's settings file is invalid: its requests are unknown."""
    problem = _find_problem(read)
    if problem is not None:
        hint = f"{describe_effect(problem)} Fix {Path(read.folder) / problem.file}, then repeat the command. {problem.hint}"
        raise Refusal(
            "bad_settings",
            describe_problem(problem),
            field=problem.field,
            hint=hint.rstrip(),
            reason=problem.code,
            parameters=problem.params,
        )


def _find_problem(read: TrustRead) -> SettingsProblem | None:
    return next((problem for problem in read.problems if problem.file == FILE), None)


async def _ask(client: Client, read: TrustRead) -> int:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        print_err("No terminal to ask in. `callboard trust --yes` grants exactly these requests.")
        return REFUSED
    print_err("Grant exactly these requests? [y/N] ", end="")
    answer = await asyncio.to_thread(sys.stdin.readline)
    if answer.strip().casefold() not in ("y", "yes"):
        print_err("Not trusted; nothing changed.")
        return REFUSED
    await _grant(client, read)
    print_err("Trusted. Callboard asks again when its files request something else.")
    return DONE


async def _grant(client: Client, read: TrustRead) -> None:
    """Trust the folder for the requests shown. Raises Refusal `trust_changed` if its files changed since."""
    _: TrustChanged = await client.submit(TrustWorkspace(workspace_id=read.workspace_id, digest=read.digest))


def _print(read: TrustRead) -> None:
    style = Style(sys.stdout)
    is_valid = _find_problem(read) is None
    print_out(f"{style.bold(mark_hidden(read.folder))}: {_STATES[read.state] if is_valid else _INVALID}")
    width = max((len(permission.file) for permission in read.widenings), default=0)
    for permission in read.widenings if is_valid else ():
        file = style.dim(mark_hidden(permission.file).ljust(width))
        print_out(f"  {file}  {mark_hidden(permission.detail)}")
    for problem in read.problems:
        print_out(style.warn(f"  {mark_hidden(format_settings_problem(problem))}"))
