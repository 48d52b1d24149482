"""`callboard import`."""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal

import msgspec
import typer

from callboard.adapters.imports.past import PastSession
from callboard.client import Client
from callboard.contracts.commands.session_import import TurnImported
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.session import SessionSource
from callboard.contracts.text.sentences import format_count

from ..reading import open_reader
from ..state_folder import StateFolder
from ..transcript_index import PRODUCTS, find_past_sessions, has_run_in, is_settled, read_settled_turns, to_command
from .terminal.broad_folders import open_folder
from .terminal.exit_codes import DONE, ENDED_BY_PERSON
from .terminal.loop import run_async
from .terminal.options import BroadFolder, FolderOption
from .terminal.output import Style, print_err, print_json, print_out, to_line

_HELP = """Import past sessions of Claude Code and Codex as read-only sessions.

An imported session has a timeline, tool calls, changed files and tokens. The import reads local transcripts and
changes none of them. Importing again adds only new turns. Callboard asks before it writes.

\b
Examples:
  callboard import                     sessions of this folder
  callboard import --all --list        list the sessions of all folders
  callboard import --from codex --yes  import without a question
"""
_SOURCES: dict[str, SessionSource] = {"claude-code": "claude_code", "codex": "codex"}
_MAX_LISTED = 20
_TITLE_WIDTH = 60


class _Line(msgspec.Struct, rename="camel"):
    """A past session, as `--json` prints it."""

    source: str
    source_id: str
    folder: str
    title: str
    changed: int
    session_id: str = ""
    added: int = 0
    skipped: int = msgspec.field(default=0, name="known")
    unfinished: bool = False
    problem: str = ""


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("import", help=_HELP, short_help="Import past sessions of Claude Code and Codex.")(_import)


def _import(
    folder: FolderOption = Path(),
    every: Annotated[bool, typer.Option("--all", help="Sessions of all existing folders.")] = False,
    source: Annotated[
        Literal["claude-code", "codex"] | None, typer.Option("--from", help="Product. [default: both]")
    ] = None,
    only_list: Annotated[bool, typer.Option("--list", help="List of the sessions only.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Import without a question.")] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Output as one JSON line per session; needs --yes to import.")
    ] = False,
    wide: BroadFolder = False,
) -> None:
    path = None if every else folder.resolve()
    product = _SOURCES[source] if source else None
    driven = run_async(_list_driven())
    sessions = [
        past
        for past in find_past_sessions(os.environ, product)
        if has_run_in(past, path) and past.source_id not in driven
    ]
    sessions.sort(key=lambda past: past.changed, reverse=True)
    if not sessions:
        where = "any folder" if path is None else str(path)
        print_err(f"Nothing to import: no past session of Claude Code or Codex ran in {where}.")
        print_err("A new session is listed after its first prompt. Sessions that Callboard started are here already.")
        raise typer.Exit(DONE)
    if only_list:
        _print(sessions, json=json, limit=len(sessions))
        raise typer.Exit(DONE)
    if not json:
        _print(sessions, json=False, limit=_MAX_LISTED)
    if not yes:
        if json or not sys.stdin.isatty():
            raise Refusal("invalid_input", "No terminal to ask in.", field="--yes", hint="Add --yes to import.")
        target = StateFolder.from_environment(os.environ).folder
        if not typer.confirm(f"Copy {format_count(len(sessions), 'session')} into {target}?", err=True):
            print_err("Nothing was imported.")
            raise typer.Exit(ENDED_BY_PERSON)
    run_async(_run(sessions, json=json, wide=wide, asks=not yes))


async def _list_driven() -> set[str]:
    """Return the source ids of past sessions that a Callboard session ran."""
    state_folder = StateFolder.from_environment(os.environ)
    if not state_folder.has_store():
        return set()
    async with open_reader(state_folder) as reader:
        return {source_id for card in (await reader.list_sessions()).cards for source_id in card.driven}


def _print(sessions: list[PastSession], *, json: bool, limit: int) -> None:
    style = Style(sys.stdout)
    for past in sessions[:limit]:
        if json:
            print_json(_build_line(past))
            continue
        day = datetime.fromtimestamp(past.changed, UTC).strftime("%Y-%m-%d")
        product = PRODUCTS[past.source].ljust(11)
        print_out(f"{day}  {product}  {to_line(past.title, _TITLE_WIDTH)}  {style.dim(to_line(past.folder))}")
    if len(sessions) > limit:
        print_err(f"… and {len(sessions) - limit} more.")


def _build_line(past: PastSession) -> _Line:
    return _Line(
        source=past.source, source_id=past.source_id, folder=past.folder, title=past.title, changed=int(past.changed)
    )


async def _run(sessions: list[PastSession], *, json: bool, wide: bool, asks: bool) -> None:
    from ..hosting.connection import connect

    added, refusals = 0, dict[str, Refusal]()
    state_folder = StateFolder.from_environment(os.environ)
    async with connect(state_folder, os.environ, lambda _: None) as client:
        for number, past in enumerate(sessions, start=1):
            line = _build_line(past)
            try:
                if past.folder in refusals:
                    raise refusals[past.folder]
                opened = await open_folder(client.submit, past.folder, wide=wide, asks=asks)
            except Refusal as refusal:
                if refusal.code != "folder_too_broad":
                    raise
                refusals[past.folder] = refusal
                line.problem = refusal.text
            else:
                await _import_turns(client, past, opened.workspace_id, line)
                added += line.added
            _report(line, f"{number}/{len(sessions)}", json=json)
    if not json:
        print_err(f"Imported: {format_count(added, 'turn')}. `callboard sessions` lists the sessions.")


async def _import_turns(client: Client, past: PastSession, workspace: str, line: _Line) -> None:
    line.unfinished = not is_settled(past)
    for turn in read_settled_turns(past):
        try:
            imported: TurnImported = await client.submit(to_command(past, turn, workspace))
        except Refusal as refusal:
            line.problem = refusal.text
            break
        line.session_id = imported.session_id
        line.added += imported.added
        line.skipped += not imported.added
    if not line.problem and not line.session_id:
        line.problem = "It has no finished turn yet. Import it again 5 minutes after its last change."


def _report(line: _Line, progress: str, *, json: bool) -> None:
    if json:
        print_json(line)
        return
    title = to_line(line.title, _TITLE_WIDTH)
    if line.problem:
        print_err(f"{progress}  {title}: {line.problem}")
        return
    skipped = f", {line.skipped} already imported" if line.skipped else ""
    later = "; the next import adds its newest turn, which may be unfinished" if line.unfinished else ""
    print_err(f"{progress}  {title}: {format_count(line.added, 'turn')}{skipped}{later}")
