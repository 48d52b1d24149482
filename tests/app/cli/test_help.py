"""Help of verbs that send a declared command (R2: one declaration)."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import callboard.app.cli as cli
from callboard.app.cli.main import app
from callboard.contracts.commands.base import COMMANDS

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
