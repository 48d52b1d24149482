"""`callboard run "PROMPT"`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from callboard.contracts.commands.turns import WhenBusy
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.turn import Mode, PermissionMode

from ..terminal.approver import ApproveOption, standing
from ..terminal.broad_folders import BroadFolder
from ..terminal.loop import run_async

_HELP = """Give an agent a prompt and follow its turn to the end.

The answer goes to standard output, everything else to standard error. Uses the Callboard that runs, or runs one
for as long as the turn takes; the session is kept either way. Ctrl-C stops the turn, a second one leaves at once.

\b
Examples:
  callboard run "Why does the test fail?"
  callboard run "Fix it" --session last            go on in the newest session
  callboard run "Write the report" --approve all-edits
  callboard run "What is wrong here?" --file screenshot.png
  callboard run - < prompt.txt > answer.md
  callboard run "Tidy up" --mode auto --json       every fact, one JSON line each

\b
Exit codes: 0 completed, 1 failed, 2 wrong usage, 3 stopped by somebody else,
4 refused, not started because its agent is paused, or an approval was needed and no user could give it,
130 stopped by Ctrl-C.
"""


def register(app: typer.Typer) -> None:
    """Adds the verb."""
    app.command("run", help=_HELP)(_run)


def _run(
    prompt: Annotated[str, typer.Argument(metavar="PROMPT", help="What to do; `-` reads it from standard input.")],
    session: Annotated[str, typer.Option(help="Go on in this session (an id, or `last`) instead of a new one.")] = "",
    folder: Annotated[Path, typer.Option("--folder", "-C", help="The folder to work in.")] = Path(),
    mode: Annotated[Mode, typer.Option(help="Talk, or work the objective until it is finalised.")] = "chat",
    permission: Annotated[
        PermissionMode | None, typer.Option(help="What needs no approval. [your settings, else ask]")
    ] = None,
    file: Annotated[
        list[Path] | None, typer.Option("--file", help="File or image to attach; repeat it for more, at most 20.")
    ] = None,
    when_busy: Annotated[WhenBusy, typer.Option(help="What becomes of the prompt while another turn runs.")] = "queue",
    approve: ApproveOption = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON line a fact instead of text.")] = False,
    wide: BroadFolder = False,
) -> None:
    from .run import RunRequest, carry_out

    answered = standing(approve)
    text = sys.stdin.read() if prompt == "-" else prompt
    if not text.strip():
        raise Refusal("invalid_input", "The prompt is empty.", field="PROMPT", hint="Say what is to be done.")
    wanted = RunRequest(
        prompt=text,
        folder=folder.expanduser().absolute(),
        session=session,
        mode=mode,
        permission=permission,
        files=tuple(path.expanduser().absolute() for path in file or ()),
        when_busy=when_busy,
        approve=answered,
        json=json,
        wide=wide,
    )
    raise typer.Exit(run_async(carry_out(wanted)))
