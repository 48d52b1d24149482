"""`callboard facts SESSION`."""

from __future__ import annotations

import os
import sys
from contextlib import aclosing
from typing import Annotated

import msgspec
import typer

from callboard.contracts.record import WireEvent

from ..reading import open_reader, resolve_session
from ..state_folder import StateFolder
from .terminal.loop import run_async
from .terminal.output import Style, print_out, terminal_width, to_line

_HELP = """Print what happened in a session, fact by fact.

SESSION is an id as `callboard sessions` lists them, or `last`. A workspace's id prints the facts of the workspace.
Reads from the process that runs, or from the store where none does; changes nothing.

\b
Examples:
  callboard facts last
  callboard facts last --follow                    and those to come
  callboard facts last --json | jq -r .type        the type of each
  callboard facts ses_… --after 120 --json         only those after sequence 120
"""
_TYPE_COLUMNS = 24


def register(app: typer.Typer) -> None:
    """Adds the verb."""
    app.command("facts", help=_HELP)(_facts)


def _facts(
    session: Annotated[str, typer.Argument(metavar="SESSION", help="A session's id, or `last`.")],
    after: Annotated[int, typer.Option(min=0, help="Only facts after this sequence.")] = 0,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Go on with what happens, where Callboard runs.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="One JSON line a fact, whole.")] = False,
) -> None:
    run_async(_print(StateFolder.from_environment(os.environ), session, after, follow=follow, as_json=json))


async def _print(home: StateFolder, session: str, after: int, *, follow: bool, as_json: bool) -> None:
    style = Style(sys.stdout)
    room = terminal_width() if sys.stdout.isatty() else 0
    async with open_reader(home) as source:
        stream = await resolve_session(source, session)
        async with aclosing(source.read_facts(stream, after=after, follow=follow)) as events:
            async for event in events:
                print_out(msgspec.json.encode(event).decode() if as_json else _line(event, style, room))


def _line(event: WireEvent, style: Style, room: int) -> str:
    """Sequence, time of day, type, and as much of the content as the line has room for."""
    time = event.timestamp[11:23]
    kind = to_line(event.type).ljust(_TYPE_COLUMNS)
    content = "(erased)" if event.erased else bytes(event.payload).decode("utf-8", "replace")
    head = f"{event.sequence:>6}  {time}  {kind}  "
    return f"{style.dim(head[:22])}{head[22:]}{style.dim(to_line(content, max(20, room - len(head)) if room else 0))}"
