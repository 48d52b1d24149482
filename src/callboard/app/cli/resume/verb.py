"""`callboard resume`."""

from __future__ import annotations

from typing import Annotated

import typer

from callboard.contracts.commands import ResumeThread

from ..terminal.approver import ApproveOption, standing
from ..terminal.loop import run_async

_HELP = """Resume a paused agent, and follow the turn that it starts.

A session is paused after its process ended, after a failed turn with others behind it, or after the same result many times.
The page shows the reason; `callboard view SESSION` shows the turns. Uses the Callboard that runs, or runs one for as long as
the turn takes. Ctrl-C stops the turn, a second one leaves at once.

SESSION is an id as `callboard sessions` lists them, or `last`.

\b
Examples:
  callboard resume last
  callboard resume last --tree            its children as well that were stopped with their process
  callboard resume SESSION --approve all-edits --json

\b
Exit codes: 0 completed or nothing waited, 1 failed, 2 wrong usage, 3 stopped by somebody else,
4 refused, such as an agent that is not paused, or an approval was needed and no user could give it, 130 stopped by Ctrl-C.
"""


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("resume", help=_HELP)(_resume)


def _resume(
    session: Annotated[str, typer.Argument(metavar="SESSION", help="A session's id, or `last`.")],
    thread: Annotated[
        str, typer.Option(metavar="THREAD", help="Thread of the agent to resume. [default: the lead]")
    ] = "",
    tree: Annotated[bool, typer.Option("--tree", help="Also its children that the end of a process stopped.")] = False,
    reason: Annotated[str, typer.Option(help="Reason, recorded in the log.")] = "",
    approve: ApproveOption = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON line a fact instead of text.")] = False,
) -> None:
    from .resume import carry_out

    command = ResumeThread(session_id=session, thread_id=thread or None, tree=tree, reason=reason)
    raise typer.Exit(run_async(carry_out(command, standing(approve), as_json=json)))
