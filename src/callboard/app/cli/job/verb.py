"""`callboard job`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from callboard.contracts.commands.jobs import CancelJob, PauseJob, ResumeJob, RetryJobItem
from callboard.contracts.facts.turn import PermissionMode

from ..terminal.loop import run_async
from ..terminal.options import ApproveOption, BroadFolder, resolve_approval
from ..terminal.output import print_out

_HELP = """Have agents work on many things, one by one, apart from any conversation.

A job has up to 500 items; a subagent works on each, so many at once, and each has attempts of its own. What is done stays done:
a job that was paused, or whose process ended, goes on with the rest.

SESSION is an id as `callboard sessions` lists them, or `last`. JOB is an id as `job list` tells them; where it is left out,
`show` tells of the newest one, and everything else is about the only one that is still open.

\b
Examples:
  callboard job start "Correct the spelling of this file." notes/*.md
  git ls-files '*.py' | callboard job start "Add what docstrings are missing in this file." --items -
  callboard job show last                 how it stands, item by item
  callboard job retry last                what failed is tried again

\b
Exit codes of start, resume and retry: 0 all items are done, 1 items failed, 2 wrong usage, 3 cancelled, also in part, or
paused by somebody else or with its process, 4 refused, or an approval was needed and nobody was there, 130 paused by Ctrl-C.
"""
_START = """Begin a job and follow it to its end.

INSTRUCTIONS are told to whoever works on an item, before the item itself. Items stand behind them, or one a line in a file;
empty lines are none. A line is printed for whatever happens to an item. Uses the Callboard that runs, or runs one for as
long as the job takes. Ctrl-C pauses the job, and `callboard job resume` lets it go on; a second one leaves at once. Where
another Callboard runs the job, it goes on when this terminal is closed.

\b
Examples:
  callboard job start "Summarise this file in one line." notes/*.md
  callboard job start "Translate into French." --items sentences.txt --parallel 4 --session last
  callboard job start "Fix this." --items - --approve all-edits --json < findings.txt
"""
_ENDS = "Ends with 0 when all items are done, with 1 when items failed; Ctrl-C pauses the job."
_app = typer.Typer(help=_HELP, rich_markup_mode=None, invoke_without_command=True)

Session = Annotated[str, typer.Argument(metavar="SESSION", help="A session's id, or `last`.")]
Job = Annotated[str, typer.Argument(metavar="[JOB]", help="A job's id.")]
Reason = Annotated[str, typer.Option(help="Why, to stand in the log beside it.")]
AsFacts = Annotated[bool, typer.Option("--json", help="One JSON line a fact instead of text.")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object instead of text.")]


def register(app: typer.Typer) -> None:
    """Adds the verb."""
    app.add_typer(_app, name="job", help=_HELP, short_help="Have agents work on many things, item by item.")


@_app.callback()
def _job(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        print_out(context.get_help())


@_app.command("start", help=_START, short_help="Begin a job and follow it to its end.")
def _start(
    instructions: Annotated[str, typer.Argument(metavar="INSTRUCTIONS", help="What is to be done with each item.")],
    given: Annotated[list[str] | None, typer.Argument(metavar="[ITEM]...", help="What is worked on.")] = None,
    session: Annotated[
        str, typer.Option(help="The session that it belongs to: an id, or `last`. [a new one, of the folder]")
    ] = "",
    folder: Annotated[Path, typer.Option("--folder", "-C", help="The folder that a new session works in.")] = Path(),
    title: Annotated[str, typer.Option(help="What it is called. [the first line of the instructions]")] = "",
    agent: Annotated[str, typer.Option(metavar="NAME", help="The subagent. [the only one that there is]")] = "",
    parallel: Annotated[
        int | None, typer.Option(min=1, max=64, help="How many work at once. [as many as the team may have]")
    ] = None,
    permission: Annotated[
        PermissionMode | None, typer.Option(help="What needs no approval. [as in the session; in a new one, the usual]")
    ] = None,
    items: Annotated[str, typer.Option("--items", metavar="FILE", help="A file of items; `-` is standard input.")] = "",
    approve: ApproveOption = None,
    json: AsFacts = False,
    wide: BroadFolder = False,
) -> None:
    from .actions import start_job
    from .arguments import build_command, read_items

    answered = resolve_approval(approve)
    command = build_command(
        instructions,
        read_items(tuple(given or ()), items),
        session=session,
        title=title,
        agent=agent,
        parallel=parallel,
        permission=permission,
    )
    raise typer.Exit(run_async(start_job(command, folder.expanduser().absolute(), answered, as_json=json, wide=wide)))


@_app.command("list", help="The jobs of a session, the newest first.")
def _list(session: Session, json: Annotated[bool, typer.Option("--json", help="One JSON line a job.")] = False) -> None:
    from .actions import list_jobs

    run_async(list_jobs(session, as_json=json))


@_app.command("show", help="How a job stands, item by item.")
def _show(session: Session, job: Job = "", json: AsJson = False) -> None:
    from .actions import show_job

    run_async(show_job(session, job, as_json=json))


@_app.command(
    "cancel", help="Cancel a job: what is done stays done, what runs is stopped, and what waits is not begun."
)
def _cancel(session: Session, job: Job = "", reason: Reason = "", json: AsJson = False) -> None:
    from .actions import change_job

    run_async(change_job(CancelJob(session_id=session, job_id=job, reason=reason), as_json=json))


@_app.command("pause", help="Stop the work on a job until it is resumed. What is done stays done.")
def _pause(session: Session, job: Job = "", reason: Reason = "", json: AsJson = False) -> None:
    from .actions import change_job

    run_async(change_job(PauseJob(session_id=session, job_id=job, reason=reason), as_json=json))


@_app.command(
    "resume", help=f"Let a paused job go on, or join one that goes on or waits for an answer, and follow it. {_ENDS}"
)
def _resume(
    session: Session, job: Job = "", reason: Reason = "", approve: ApproveOption = None, json: AsFacts = False
) -> None:
    from .actions import continue_job

    command = ResumeJob(session_id=session, job_id=job, reason=reason)
    raise typer.Exit(run_async(continue_job(command, resolve_approval(approve), as_json=json)))


@_app.command("retry", help=f"Begin another attempt of what failed, and follow it. {_ENDS}")
def _retry(
    session: Session,
    job: Job = "",
    item: Annotated[
        str, typer.Argument(metavar="[ITEM]", help="An item's number or id; all that failed where none is named.")
    ] = "",
    reason: Reason = "",
    approve: ApproveOption = None,
    json: AsFacts = False,
) -> None:
    from .actions import continue_job

    command = RetryJobItem(session_id=session, job_id=job, item_id=item or None, reason=reason)
    raise typer.Exit(run_async(continue_job(command, resolve_approval(approve), as_json=json)))
