"""`callboard job`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from callboard.contracts.commands.job import CancelJob, PauseJob, ResumeJob, RetryJobItem
from callboard.contracts.facts.turn import PermissionMode

from ..terminal.loop import run_async
from ..terminal.options import (
    ApproveOption,
    BroadFolder,
    FolderOption,
    JsonFacts,
    JsonObject,
    ReasonOption,
    SessionArgument,
    format_command_help,
    resolve_approval,
)
from ..terminal.output import print_out

_HELP = """Run agents on a list of items.

A job has up to 500 items. A subagent works on each; several run in parallel, and each item has its own attempts.
Finished items stay finished: a paused job, or one whose process ended, continues with the rest.

SESSION is an id from `callboard sessions`, or `last`. JOB is an id from `job list`. Without JOB, `show` uses the
newest job, and the other verbs use the only open one.

\b
Examples:
  callboard job start "Correct the spelling of this file." notes/*.md
  git ls-files '*.py' | callboard job start "Add missing docstrings to this file." --items -
  callboard job show last                 show the items and their status
  callboard job retry last                retry failed items

\b
Exit codes of start, resume and retry: 0 all items done, 1 items failed, 2 wrong usage, 3 items cancelled, or the job paused
by another client or with its process, 4 refused, or an approval that no person could give, 130 paused by Ctrl-C.
"""
_START = """After starting it, follows the job to its end. Each subagent receives INSTRUCTIONS, then its item. Items
follow the instructions, or come one per line from a file; empty lines are ignored. Every event of an item prints a
line. Uses the running Callboard, or starts one until the job ends. Ctrl-C pauses the job, and `callboard job resume`
continues it; a second Ctrl-C exits immediately. A job of another running Callboard continues after this terminal
closes.

\b
Examples:
  callboard job start "Summarise this file in one line." notes/*.md
  callboard job start "Translate into French." --items sentences.txt --parallel 4 --session last
  callboard job start "Fix this." --items - --approve all-edits --json < findings.txt
"""
_FOLLOWS = """After that, follows the job to its end. Exits with 0 if all items are done, with 1 if items failed;
Ctrl-C pauses the job."""
_app = typer.Typer(help=_HELP, rich_markup_mode=None, invoke_without_command=True)

JobArgument = Annotated[str, typer.Argument(metavar="[JOB]", help="Job id.")]


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.add_typer(_app, name="job", help=_HELP, short_help="Run agents on a list of items.")


@_app.callback()
def _job(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        print_out(context.get_help())


@_app.command("start", help=format_command_help("create_job", _START))
def _start(
    instructions: Annotated[str, typer.Argument(metavar="INSTRUCTIONS", help="Task for each item.")],
    arguments: Annotated[list[str] | None, typer.Argument(metavar="[ITEM]...", help="Items to work on.")] = None,
    session: Annotated[str, typer.Option(help="Session id, or `last`. [default: a new session of the folder]")] = "",
    folder: FolderOption = Path(),
    title: Annotated[str, typer.Option(help="Title. [default: first line of the instructions]")] = "",
    agent: Annotated[str, typer.Option(metavar="NAME", help="Subagent. [default: the only one]")] = "",
    parallel: Annotated[
        int | None, typer.Option(min=1, max=64, help="Number of parallel items. [default: limit of the team]")
    ] = None,
    permission: Annotated[
        PermissionMode | None, typer.Option(help="Permission mode. [default: mode of the session, else of the folder]")
    ] = None,
    items: Annotated[
        str, typer.Option("--items", metavar="FILE", help="File with one item per line; `-` is standard input.")
    ] = "",
    approve: ApproveOption = None,
    json: JsonFacts = False,
    wide: BroadFolder = False,
) -> None:
    from .actions import start_job
    from .arguments import build_command, read_items

    policy = resolve_approval(approve)
    command = build_command(
        instructions,
        read_items(tuple(arguments or ()), items),
        session=session,
        title=title,
        agent=agent,
        parallel=parallel,
        permission=permission,
    )
    raise typer.Exit(run_async(start_job(command, folder, policy, as_json=json, wide=wide)))


@_app.command("list", help="List the jobs of a session, newest first.")
def _list(
    session: SessionArgument,
    json: Annotated[bool, typer.Option("--json", help="Output as one JSON line per job.")] = False,
) -> None:
    from .actions import list_jobs

    run_async(list_jobs(session, as_json=json))


@_app.command("show", help=format_command_help("get_job"))
def _show(session: SessionArgument, job: JobArgument = "", json: JsonObject = False) -> None:
    from .actions import show_job

    run_async(show_job(session, job, as_json=json))


@_app.command(
    "cancel",
    help=format_command_help(
        "cancel_job", "Finished items stay finished; running items stop; waiting items do not start."
    ),
)
def _cancel(
    session: SessionArgument, job: JobArgument = "", reason: ReasonOption = "", json: JsonObject = False
) -> None:
    from .actions import change_job

    run_async(change_job(CancelJob(session_id=session, job_id=job, reason=reason), as_json=json))


@_app.command("pause", help=format_command_help("pause_job", "Finished items stay finished."))
def _pause(
    session: SessionArgument, job: JobArgument = "", reason: ReasonOption = "", json: JsonObject = False
) -> None:
    from .actions import change_job

    run_async(change_job(PauseJob(session_id=session, job_id=job, reason=reason), as_json=json))


@_app.command("resume", help=format_command_help("resume_job", f"Joins the job if it is running. {_FOLLOWS}"))
def _resume(
    session: SessionArgument,
    job: JobArgument = "",
    reason: ReasonOption = "",
    approve: ApproveOption = None,
    json: JsonFacts = False,
) -> None:
    from .actions import continue_job

    command = ResumeJob(session_id=session, job_id=job, reason=reason)
    raise typer.Exit(run_async(continue_job(command, resolve_approval(approve), as_json=json)))


@_app.command("retry", help=format_command_help("retry_job_item", _FOLLOWS))
def _retry(
    session: SessionArgument,
    job: JobArgument = "",
    item: Annotated[str, typer.Argument(metavar="[ITEM]", help="Item number or id. [default: all failed items]")] = "",
    reason: ReasonOption = "",
    approve: ApproveOption = None,
    json: JsonFacts = False,
) -> None:
    from .actions import continue_job

    command = RetryJobItem(session_id=session, job_id=job, item_id=item or None, reason=reason)
    raise typer.Exit(run_async(continue_job(command, resolve_approval(approve), as_json=json)))
