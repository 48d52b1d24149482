"""`callboard view SESSION`."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from callboard.contracts.rows.session import SessionRow
from callboard.contracts.rows.turn import TurnRow

from ..reading import open_reader, resolve_session
from ..state_folder import StateFolder
from .terminal.loop import run_async
from .terminal.options import SessionArgument
from .terminal.output import Style, print_out, to_line
from .terminal.renderer import ConversationRenderer

_HELP = """Print a conversation.

SESSION is an id from `callboard sessions`, or `last`. Reads the same row operations as the page, from the running
Callboard, else from the store. Changes nothing.

\b
Examples:
  callboard view last
  callboard view last --turns 100       print older turns too
  callboard view last | less -R
"""


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("view", help=_HELP)(_view)


def _view(
    session: SessionArgument,
    turns: Annotated[int, typer.Option(min=1, max=200, help="Number of newest turns.")] = 20,
    thinking: Annotated[bool, typer.Option("--thinking", help="Reasoning of the model, where available.")] = False,
) -> None:
    run_async(_print(StateFolder.from_environment(os.environ), session, turns, thinking=thinking))


async def _print(state_folder: StateFolder, session: str, turns: int, *, thinking: bool) -> None:
    style = Style(sys.stdout)
    async with open_reader(state_folder) as reader:
        stream = await resolve_session(reader, session)
        table = await reader.read_conversation(stream, turns=turns)
        for row in table.list_rows(SessionRow):
            print_out(f"{style.bold(to_line(row.title))}  {style.dim(f'{row.session_id}  {to_line(row.folder)}')}")
        renderer = ConversationRenderer(reader, table, style, thinking=thinking)
        for turn in table.list_rows(TurnRow)[-turns:]:
            await renderer.print_turn(turn)
