"""`callboard view SESSION`."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from callboard.contracts.rows import SessionRow, TurnRow

from ..reading import open_reader, resolve_session
from ..state_folder import StateFolder
from .terminal.loop import run_async
from .terminal.output import Style, print_out, to_line
from .terminal.renderer import ConversationRenderer

_HELP = """Print a conversation as it reads now.

SESSION is an id as `callboard sessions` lists them, or `last`. It is made of the same row operations that the page is fed
by, from the process that runs, or from the store where none does; changes nothing.

\b
Examples:
  callboard view last
  callboard view last --turns 100       further back
  callboard view last | less -R
"""


def register(app: typer.Typer) -> None:
    """Adds the verb."""
    app.command("view", help=_HELP)(_view)


def _view(
    session: Annotated[str, typer.Argument(metavar="SESSION", help="A session's id, or `last`.")],
    turns: Annotated[int, typer.Option(min=1, max=200, help="How many of the newest turns.")] = 20,
    thinking: Annotated[
        bool, typer.Option("--thinking", help="What the model thought, as far as it was told.")
    ] = False,
) -> None:
    run_async(_print(StateFolder.from_environment(os.environ), session, turns, thinking=thinking))


async def _print(home: StateFolder, session: str, turns: int, *, thinking: bool) -> None:
    style = Style(sys.stdout)
    async with open_reader(home) as source:
        stream = await resolve_session(source, session)
        table = await source.read_conversation(stream, turns=turns)
        for shell in table.panel(SessionRow):
            print_out(
                f"{style.bold(to_line(shell.title))}  {style.dim(f'{shell.session_id}  {to_line(shell.folder)}')}"
            )
        rendering = ConversationRenderer(source, table, style, thinking=thinking)
        for turn in table.panel(TurnRow)[-turns:]:
            await rendering.print_turn(turn)
