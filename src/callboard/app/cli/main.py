"""Entry point of the command line."""

from __future__ import annotations

import os
import sys
import traceback
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from callboard import __version__
from callboard.contracts.disk import build_disk_refusal
from callboard.contracts.errors import Problem, Refusal

from ..settings.problems import format_field_suffix
from ..state_folder import StateFolder, write_private
from . import (
    agents,
    artifacts,
    demo,
    doctor,
    evidence,
    facts,
    imports,
    models,
    resume,
    rules,
    secrets,
    sessions,
    stored,
    tools,
    trust,
    up,
    verify,
    view,
)
from .job import job
from .run import run
from .terminal.exit_codes import DONE, ENDED_BY_PERSON, FAILED, find_exit_code
from .terminal.output import Style, print_err, strip_controls
from .terminal.wording import translate_problem

DEFAULT_VERB = "up"
#: Options without a verb; all others are options of the default verb.
_GLOBAL_OPTIONS = ("--version", "--help", "-h", "--install-completion", "--show-completion")

_HELP = """Run teams of AI agents on real folders, with a verifiable log of every step.

Without a verb, `callboard` runs `callboard up`: the workbench on the current folder.

\b
Examples:
  callboard                                      open the workbench on this folder
  callboard run "Why does the test fail?"        run one turn in the terminal
  callboard resume last                          resume a paused agent
  callboard job                                  work through a list of items
  callboard models                               list models and test one
  callboard doctor                               find problems and their fixes
  callboard demo                                 watch a team without a model
  callboard agents                               list agents and check their files
  callboard tools                                list the tools of an agent
  callboard trust                                review what this folder's files request
  callboard rules                                list permission rules; --dry-run tries new ones
  callboard secrets                              store keys and tokens in the system keyring
  callboard sessions                             list sessions
  callboard view last                            print the newest conversation
  callboard facts last --json                    print its facts, one JSON line each
  callboard artifacts last                       list the files that its agents wrote
  callboard evidence last                        write a pack that others can verify
  callboard verify FILE                          verify such a pack
  callboard check                                check all stored data for damage
  callboard backup PLACE                         back up all data to one file; `restore` restores it
  callboard import                               import sessions of Claude Code and Codex

\b
Data is stored in CALLBOARD_HOME [default: the user's state folder, printed by `up`].
To choose a model, set OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY, or CALLBOARD_BASE_URL with CALLBOARD_MODEL, or
list models in settings.toml.
"""


app = typer.Typer(
    help=_HELP,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"], "max_content_width": 110},
)
for verb in (
    up,
    run,
    resume,
    job,
    models,
    doctor,
    demo,
    agents,
    tools,
    trust,
    rules,
    secrets,
    sessions,
    view,
    facts,
    artifacts,
    evidence,
    verify,
    imports,
    stored,
):
    verb.register(app)


def _print_version(is_requested: bool) -> None:
    if is_requested:
        print(f"callboard {__version__}")
        raise typer.Exit


@app.callback()
def _callboard(
    _: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Version of Callboard.")
    ] = False,
) -> None:
    pass


def main(arguments: list[str] | None = None) -> int:
    """Run a command line; return the exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if not arguments or (arguments[0].startswith("-") and arguments[0] not in _GLOBAL_OPTIONS):
        arguments = [DEFAULT_VERB, *arguments]
    as_json = "--json" in arguments
    try:
        code = typer.main.get_command(app).main(args=arguments, prog_name="callboard", standalone_mode=False)
    except Refusal as refusal:
        _report(_complete(refusal.problem), as_json=as_json)
        return find_exit_code(refusal.code)
    except typer.TyperException as error:
        # typer passes on pydantic's prefix.
        text = error.format_message().replace("Value error, ", "")
        _report(Problem(code="invalid_input", message=text, hint=_format_help_hint(error)), as_json=as_json)
        return error.exit_code
    except (typer.Abort, KeyboardInterrupt):
        return ENDED_BY_PERSON
    except BrokenPipeError:
        # The reader closed the pipe, as in `callboard facts last | head`: flush to nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except Exception as error:
        if refusal := build_disk_refusal(error):
            _report(_complete(refusal.problem), as_json=as_json)
            return find_exit_code(refusal.code)
        _report(_find_lost_folder(error) or _record_incident(error), as_json=as_json)
        return FAILED
    return code if isinstance(code, int) else DONE


def _report(problem: Problem, *, as_json: bool) -> None:
    if as_json:
        print_err(msgspec.json.encode(problem).decode())
        return
    style = Style(sys.stderr)
    field = strip_controls(format_field_suffix(problem.message, problem.field))
    print_err(f"{style.bad(problem.code)}: {strip_controls(problem.message)}{style.dim(field)}")
    if problem.hint:
        print_err(style.dim(strip_controls(problem.hint)))


def _format_help_hint(error: typer.TyperException) -> str:
    """Return the help command of the verb that was used wrongly."""
    context: typer.Context | None = getattr(error, "ctx", None)
    verb = "callboard" if context is None else context.command_path
    has_verbs = context is None or hasattr(context.command, "commands")
    return f"`{verb} --help` lists its {'verbs' if has_verbs else 'arguments and options'}."


def _complete(problem: Problem) -> Problem:
    """Return the problem in terms of the command line; an internal one names the log of the running process."""
    if problem.code != "internal":
        return translate_problem(problem)
    log = StateFolder.from_environment(os.environ).log
    return msgspec.structs.replace(problem, hint=f"The details are in {log}.")


def _find_lost_folder(error: Exception) -> Problem | None:
    """Return the problem of a deleted working folder; None for any other error."""
    try:
        Path.cwd()
    except FileNotFoundError:
        if isinstance(error, FileNotFoundError) and error.filename is None:
            message = "The folder of this terminal was deleted or moved."
            return Problem(code="no_folder", message=message, hint="Change to another folder and repeat the command.")
    return None


def _record_incident(error: Exception) -> Problem:
    """Write the traceback to a file, without secrets; return the problem that names the file."""
    state_folder = StateFolder.from_environment(os.environ)
    path = state_folder.folder / "incident.txt"
    try:
        state_folder.create()
        from ..models.keys import read_environment_secrets

        text = read_environment_secrets(os.environ).redact("".join(traceback.format_exception(error)))
        write_private(path, text.encode("utf-8", "replace"))
        hint = f"The details are in {path}."
    except (OSError, Refusal):
        hint = "The details could not be written to CALLBOARD_HOME."
    message = f"Something went wrong inside Callboard: {type(error).__name__}."
    return Problem(code="internal", message=message, hint=hint)
