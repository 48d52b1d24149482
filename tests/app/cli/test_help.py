"""Help of verbs that send a declared command (R2: one declaration)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

import callboard.app.cli as cli
from callboard.app.cli.main import app
from callboard.contracts.commands.base import COMMANDS
from tests.app.rigs.product import Product, says

#: Verbs that carry out one declared command, with its name.
VERBS = {
    "artifacts": "list_artifacts",
    "demo": "start_demo",
    "evidence": "export_evidence",
    "job cancel": "cancel_job",
    "job pause": "pause_job",
    "job resume": "resume_job",
    "job retry": "retry_job_item",
    "job show": "get_job",
    "job start": "create_job",
    "models": "list_models",
    "resume": "resume_thread",
    "rules": "list_rules",
    "secrets list": "list_secrets",
    "secrets remove": "remove_secret",
    "secrets set": "set_secret",
    "sessions": "list_sessions",
    "tools": "get_tool_inventory",
}
#: Other commands that verbs send, and why no verb takes its help from them.
OTHERS = {
    "submit_turn": "`run` also creates the session, follows the turn and asks",
    "get_trust": "`trust` shows, grants and revokes",
    "trust_workspace": "`trust` shows, grants and revokes",
    "revoke_trust": "`trust` shows, grants and revokes",
    "dry_run_rules": "an option of `rules`",
    "export_artifact": "an option of `artifacts`",
    "get_artifact": "an option of `artifacts`",
    "get_artifact_diff": "an option of `artifacts`",
    "list_exports": "the progress of `evidence`",
    "respond_action": "an answer to a question",
    "open_workspace": "a step of several verbs",
    "get_session": "a step of several verbs",
    "get_settings": "a step of `run`",
}
#: Commands that a verb sends through a reader, the model catalogue or a conversion.
INDIRECT = {"list_models", "list_sessions", "set_secret"}


def _first_line(verb: str) -> str:
    """Return the first paragraph of a verb's help, on one line."""
    result = CliRunner().invoke(app, [*verb.split(), "--help"])
    assert result.exit_code == 0, result.output
    paragraph = re.split(r"\n\s*\n", result.output.strip())[1]
    return " ".join(paragraph.split())


@pytest.mark.parametrize(("verb", "command"), VERBS.items())
def test_help_begins_with_the_summary_of_the_declared_command(verb: str, command: str):
    """R2: a changed declaration changes the help."""
    assert _first_line(verb) == COMMANDS[command].summary


def test_each_command_that_verbs_send_gives_its_help_or_a_reason():
    """R2: a new verb cannot write its own summary of a declared command."""
    names = {declaration.command.__name__: name for name, declaration in COMMANDS.items()}
    sent = {
        names[node.func.id]
        for path in Path(cli.__path__[0]).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names
    }
    assert sent | INDIRECT == {*VERBS.values(), *OTHERS}


@pytest.mark.parametrize(
    ("arguments", "verb", "lists"),
    [
        (("run", "Hi", "--bogus"), "callboard run", "arguments and options"),
        (("run",), "callboard run", "arguments and options"),
        (("run", "Hi", "--mode", "loud"), "callboard run", "arguments and options"),
        (("job", "start"), "callboard job start", "arguments and options"),
        (("job", "sing"), "callboard job", "verbs"),
        (("--bogus",), "callboard up", "arguments and options"),
        (("sing",), "callboard", "verbs"),
    ],
)
def test_a_usage_error_names_the_help_of_its_verb(product: Product, arguments: tuple[str, ...], verb: str, lists: str):
    """UI-06"""
    done = product.run(*arguments)
    assert (done.code, done.err.splitlines()[-1]) == (2, f"`{verb} --help` lists its {lists}.")


def _verbs_with_folder() -> Iterator[tuple[str, ...]]:
    """Yield a command line with a missing folder for each verb that takes one."""
    pending: list[tuple[tuple[str, ...], Any]] = [((), get_command(app))]
    while pending:
        names, verb = pending.pop()
        pending += [((*names, name), inner) for name, inner in getattr(verb, "commands", {}).items()]
        for parameter in verb.params:
            if parameter.name == "folder":
                option = ("--folder", "nowhere") if parameter.param_type_name == "option" else ("nowhere",)
                required = ["text" for other in verb.params if other.required]
                yield (*names, *required, *option)


@pytest.mark.parametrize("arguments", sorted(_verbs_with_folder()), ids=lambda arguments: arguments[0])
def test_each_verb_refuses_a_folder_that_does_not_exist(product: Product, arguments: tuple[str, ...]):
    """SAFE-05: a misspelt folder has one code, and never an empty result."""
    done = product.run(*arguments)
    assert (done.code, done.out, done.err.partition(":")[0]) == (2, "", "no_folder")
    assert f"{product.folder / 'nowhere'} is not a folder." in done.err


def test_ten_verbs_take_a_folder():
    assert len(list(_verbs_with_folder())) == 10


def test_sessions_of_a_deleted_folder_are_still_listed(product: Product):
    gone = product.folder / "gone"
    gone.mkdir()
    product.plays({"calls": [says("Done.")]}).run("run", "Go", "-C", str(gone))
    gone.rmdir()
    assert "Go gone" in product.run("sessions", "--folder", str(gone)).out
