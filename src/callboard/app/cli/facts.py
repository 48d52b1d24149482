"""`callboard facts SESSION`."""

from __future__ import annotations

import os
import sys
from contextlib import aclosing
from typing import Annotated

import typer

from callboard.contracts.record import WireEvent

from ..reading import open_reader, resolve_session
from ..state_folder import StateFolder
from .terminal.loop import run_async
from .terminal.options import SessionArgument
from .terminal.output import Style, print_json, print_out, read_terminal_width, to_line

_HELP = """Print the facts of a session.

SESSION is an id from `callboard sessions`, or `last`. A workspace id prints the facts of the workspace. Reads from
the running Callboard, else from the store. Changes nothing.

\b
Examples:
  callboard facts last
  callboard facts last --follow                    also print new facts
  callboard facts last --json | jq -r .type        print the type of each fact
  callboard facts ses_… --after 120 --json         print only facts after sequence 120
"""
_TYPE_COLUMNS = 24


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("facts", help=_HELP)(_facts)


def _facts(
    session: SessionArgument,
    after: Annotated[int, typer.Option(min=0, help="Sequence to start after.")] = 0,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Also new facts, while Callboard is running.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Output as whole facts, one JSON line each.")] = False,
) -> None:
    run_async(_print(StateFolder.from_environment(os.environ), session, after, follow=follow, as_json=json))


async def _print(state_folder: StateFolder, session: str, after: int, *, follow: bool, as_json: bool) -> None:
    style = Style(sys.stdout)
    width = read_terminal_width() if sys.stdout.isatty() else 0
    async with open_reader(state_folder) as reader:
        stream = await resolve_session(reader, session)
        async with aclosing(reader.read_facts(stream, after=after, follow=follow)) as events:
            async for event in events:
                if as_json:
                    print_json(event)
                else:
                    print_out(_format_line(event, style, width))


def _format_line(event: WireEvent, style: Style, width: int) -> str:
    """Return sequence, time of day, type, and as much of the content as fits on the line."""
    time = event.timestamp[11:23]
    kind = to_line(event.type).ljust(_TYPE_COLUMNS)
    content = "(erased)" if event.erased else bytes(event.payload).decode("utf-8", "replace")
    head = f"{event.sequence:>6}  {time}  {kind}  "
    return f"{style.dim(head[:22])}{head[22:]}{style.dim(to_line(content, max(20, width - len(head)) if width else 0))}"
