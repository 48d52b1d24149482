"""`callboard import`."""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal

import msgspec
import typer

from callboard.adapters.imports.past import PastSession, PastTurn
from callboard.contracts.commands import TurnImported
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.session import SessionSource

from ..reading import open_reader
from ..state_folder import StateFolder
from ..transcript_index import PRODUCTS, find_past_sessions, is_settled, ran_in, settled_turns, to_command
from .terminal.broad_folders import open_folder
from .terminal.exit_codes import DONE, ENDED_BY_PERSON
from .terminal.loop import run_async
from .terminal.options import BroadFolder
from .terminal.output import Style, print_err, print_out, to_line

_HELP = """Take over past sessions of Claude Code and Codex, to read them here.

They become sessions for reading, with their timeline, tools, files touched and tokens. Nothing is changed where they come
from, nothing leaves this machine, and importing again adds only what is new. You are asked before anything is written.

\b
Examples:
  callboard import                     those that worked in this folder
  callboard import --all --list        what there is, in all folders
  callboard import --from codex --yes  without a question
"""
_SOURCES: dict[str, SessionSource] = {"claude-code": "claude_code", "codex": "codex"}
_SHOWN = 20


class _Line(msgspec.Struct, rename="camel"):
    """What `--json` tells of a past session."""

    source: str
    source_id: str
    folder: str
    title: str
    changed: int
    session_id: str = ""
    added: int = 0
    known: int = 0
    unfinished: bool = False
    problem: str = ""


def register(app: typer.Typer) -> None:
    """Adds the verb."""
    app.command("import", help=_HELP, short_help="Take over past sessions of Claude Code and Codex.")(_import)


def _import(
    folder: Annotated[Path, typer.Option("--folder", "-C", help="Those that worked in this folder.")] = Path(),
    every: Annotated[bool, typer.Option("--all", help="Those of every folder that is still there.")] = False,
    source: Annotated[
        Literal["claude-code", "codex"] | None, typer.Option("--from", help="Only those of one product.")
    ] = None,
    only_list: Annotated[bool, typer.Option("--list", help="Show what there is and import nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    json: Annotated[
        bool, typer.Option("--json", help="One JSON line a session; asks nothing, so it needs --yes.")
    ] = False,
    wide: BroadFolder = False,
) -> None:
    wanted = None if every else folder.expanduser().resolve()
    product = _SOURCES[source] if source else None
    driven = run_async(_driven())
    past = find_past_sessions(os.environ, product)
    found = [one for one in past if ran_in(one, wanted) and one.source_id not in driven]
    found.sort(key=lambda one: one.changed, reverse=True)
    if not found:
        where = "any folder" if wanted is None else str(wanted)
        print_err(f"Nothing to import: no past session of Claude Code or Codex worked in {where}.")
        print_err(
            "A new session is found once a person asked something in it. What Callboard started itself is here already."
        )
        raise typer.Exit(DONE)
    if only_list:
        _show(found, json=json, most=len(found))
        raise typer.Exit(DONE)
    if not json:
        _show(found, json=False, most=_SHOWN)
    if not yes:
        if json or not sys.stdin.isatty():
            raise Refusal("invalid_input", "Nobody can be asked here.", field="--yes", hint="Add --yes to import.")
        if not typer.confirm(
            f"Copy {len(found)} sessions into {StateFolder.from_environment(os.environ).folder}?", err=True
        ):
            print_err("Nothing was imported.")
            raise typer.Exit(ENDED_BY_PERSON)
    run_async(_carry_out(found, json=json, wide=wide, asks=not yes))


async def _driven() -> set[str]:
    """The past sessions that are the work of a session here."""
    home = StateFolder.from_environment(os.environ)
    if not home.has_store():
        return set()
    async with open_reader(home) as source:
        return {one for card in (await source.list_sessions()).cards for one in card.driven}


def _show(found: list[PastSession], *, json: bool, most: int) -> None:
    style = Style(sys.stdout)
    for one in found[:most]:
        if json:
            print_out(msgspec.json.encode(_line(one)).decode())
            continue
        day = datetime.fromtimestamp(one.changed, UTC).strftime("%Y-%m-%d")
        product = PRODUCTS[one.source].ljust(11)
        print_out(f"{day}  {product}  {to_line(one.title, 60)}  {style.dim(to_line(one.folder))}")
    if len(found) > most:
        print_err(f"… and {len(found) - most} more.")


def _line(one: PastSession) -> _Line:
    return _Line(
        source=one.source, source_id=one.source_id, folder=one.folder, title=one.title, changed=int(one.changed)
    )


async def _carry_out(found: list[PastSession], *, json: bool, wide: bool, asks: bool) -> None:
    from ..hosting.connection import connect

    added, refused = 0, dict[str, Refusal]()
    home = StateFolder.from_environment(os.environ)
    async with connect(home, os.environ, lambda _: None) as client:

        async def send(one: PastSession, turn: PastTurn, workspace: str) -> TurnImported:
            given: TurnImported = await client.submit(to_command(one, turn, workspace))
            return given

        for number, one in enumerate(found, start=1):
            line = _line(one)
            try:
                if one.folder in refused:
                    raise refused[one.folder]
                opened = await open_folder(client.submit, one.folder, wide=wide, asks=asks)
            except Refusal as refusal:
                if refusal.code != "folder_too_broad":
                    raise
                refused[one.folder] = refusal
                line.problem = f"{refusal.problem.message} {refusal.problem.hint}"
                _tell(line, f"{number}/{len(found)}", json=json)
                continue
            line.unfinished = not is_settled(one)
            for turn in settled_turns(one):
                try:
                    answer = await send(one, turn, opened.workspace_id)
                except Refusal as refusal:
                    line.problem = refusal.problem.message
                    break
                line.session_id = answer.session_id
                line.added += answer.added
                line.known += not answer.added
            if not line.problem and not line.session_id:
                line.problem = "It has no finished turn yet. Import it again 5 minutes after its last change."
            added += line.added
            _tell(line, f"{number}/{len(found)}", json=json)
    if not json:
        print_err(f"Imported: {_turns(added)}. `callboard sessions` lists the sessions.")


def _tell(line: _Line, place: str, *, json: bool) -> None:
    if json:
        print_out(msgspec.json.encode(line).decode())
    elif line.problem:
        print_err(f"{place}  {to_line(line.title, 60)}: {line.problem}")
    else:
        known = f", {line.known} there already" if line.known else ""
        later = "; its newest turn may still be written and comes with the next import" if line.unfinished else ""
        print_err(f"{place}  {to_line(line.title, 60)}: {_turns(line.added)}{known}{later}")


def _turns(count: int) -> str:
    return f"{count} turn" if count == 1 else f"{count} turns"
