"""The command line: verbs, and whatever goes wrong told in one line."""

from __future__ import annotations

import os
import sys
import traceback
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from callboard import __version__
from callboard.contracts.disk import disk_refusal
from callboard.contracts.errors import Problem, Refusal

from ..settings.problems import field_suffix
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
from .job import verb as job
from .run import run
from .terminal.exit_codes import DONE, ENDED_BY_PERSON, FAILED, exit_code
from .terminal.output import Style, print_err, strip_controls
from .terminal.wording import translate_problem

DEFAULT_VERB = "up"
#: What stands before a verb; other options are those of the default verb.
_OWN_OPTIONS = ("--version", "--help", "-h", "--install-completion", "--show-completion")

_HELP = """Run AI agents on real folders, and know what they did.

Without a verb it is `callboard up`: the workbench on the folder you are in.

\b
Examples:
  callboard                                      the workbench, in this folder
  callboard run "Why does the test fail?"        one turn in the terminal
  callboard resume last                          resume a paused agent
  callboard job                                  work on many things, item by item: begun, followed, taken up again
  callboard models                               the models that can be asked, what is found beside them, and a test
  callboard doctor                               what is missing or wrong, and what mends it
  callboard demo                                 teams to watch, without a model
  callboard agents                               who would work here, and what is wrong with their files
  callboard tools                                which tools an agent has, which it has not and why, and the servers of tools
  callboard trust                                what this folder's own files would allow, and whether you let them
  callboard rules                                the rules that hold; --dry-run tries some on what agents did
  callboard secrets                              keys and tokens in the system's keyring, and the handles that stand for them
  callboard sessions                             what there is
  callboard view last                            the newest conversation
  callboard facts last --json                    every fact of it, one a line
  callboard artifacts last                       what its agents wrote, version by version
  callboard evidence last                        a pack of it that others can verify
  callboard verify FILE                          whether such a pack holds, and where it does not
  callboard check                                whether all that is stored is as it was written
  callboard backup PLACE                         all that is stored, in one file; `restore` puts it back
  callboard import                               past sessions of Claude Code and Codex, to read here

\b
What is kept is in CALLBOARD_HOME (default: your state folder, printed by `up`).
A model is named by OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY, by CALLBOARD_BASE_URL with CALLBOARD_MODEL, or in
settings.toml there.
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


def _version(asked: bool) -> None:
    if asked:
        print(f"callboard {__version__}")
        raise typer.Exit


@app.callback()
def _callboard(
    _: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")] = False,
) -> None:
    pass


def main(arguments: list[str] | None = None) -> int:
    """Carries out a command line; returns the exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    if not given or (given[0].startswith("-") and given[0] not in _OWN_OPTIONS):
        given = [DEFAULT_VERB, *given]
    as_json = "--json" in given
    try:
        code = typer.main.get_command(app).main(args=given, prog_name="callboard", standalone_mode=False)
    except Refusal as refusal:
        _tell(_placed(refusal.problem), as_json=as_json)
        return exit_code(refusal.code)
    except typer.TyperException as error:
        text = error.format_message()
        hint = "`callboard --help` lists the verbs, `callboard VERB --help` what each takes."
        _tell(Problem(code="invalid_input", message=text, hint=hint), as_json=as_json)
        return error.exit_code
    except (typer.Abort, KeyboardInterrupt):
        return ENDED_BY_PERSON
    except BrokenPipeError:
        # Who read has gone, as in `callboard facts last | head`; nothing is left to flush to.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except Exception as error:
        if refusal := disk_refusal(error):
            _tell(_placed(refusal.problem), as_json=as_json)
            return exit_code(refusal.code)
        _tell(_lost_folder(error) or _incident(error), as_json=as_json)
        return FAILED
    return code if isinstance(code, int) else DONE


def _tell(problem: Problem, *, as_json: bool) -> None:
    if as_json:
        print_err(msgspec.json.encode(problem).decode())
        return
    style = Style(sys.stderr)
    field = strip_controls(field_suffix(problem.message, problem.field))
    print_err(f"{style.bad(problem.code)}: {strip_controls(problem.message)}{style.dim(field)}")
    if problem.hint:
        print_err(style.dim(strip_controls(problem.hint)))


def _placed(problem: Problem) -> Problem:
    """The problem; of a defect in the process that runs, with the place of its log."""
    if problem.code != "internal":
        return translate_problem(problem)
    return msgspec.structs.replace(problem, hint=f"The details are in {StateFolder.from_environment(os.environ).log}.")


def _lost_folder(error: Exception) -> Problem | None:
    """Return the problem of a terminal whose folder was deleted; None for any other error."""
    try:
        Path.cwd()
    except FileNotFoundError:
        if isinstance(error, FileNotFoundError) and error.filename is None:
            message = "The folder of this terminal was deleted or moved."
            return Problem(code="no_folder", message=message, hint="Change to another folder and repeat the command.")
    return None


def _incident(error: Exception) -> Problem:
    """What a person is told of a defect; the rest goes to a file."""
    home = StateFolder.from_environment(os.environ)
    place = home.folder / "incident.txt"
    try:
        home.make()
        from ..models.keys import environment_secrets

        told = environment_secrets(os.environ).redact("".join(traceback.format_exception(error)))
        write_private(place, told.encode("utf-8", "replace"))
        hint = f"The details are in {place}."
    except (OSError, Refusal):
        hint = "The details could not be written to CALLBOARD_HOME."
    return Problem(
        code="internal", message=f"Something went wrong inside Callboard: {type(error).__name__}.", hint=hint
    )
