from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

import callboard
from callboard.app.cli.terminal.wording import format_notice, translate_problem
from callboard.contracts.commands.base import COMMANDS
from callboard.contracts.errors import CODES, Code, Problem
from callboard.contracts.rows.subagent import NotificationPart
from tests.app.rigs.product import Product

#: Codes with a hint that names a command, and that no verb reports.
NEVER_RECEIVED = {
    "conflict",
    "delegate_target_denied",
    "invalid_input",
    "not_your_child",
    "merge_failed",
    "nothing_running",
    "nothing_to_trust",
    "path_denied",
    "process_unavailable",
    "review_judged",
    "server_unavailable",
    "task_not_running",
    "task_of_job",
    "turn_already_ended",
    "turn_not_queued",
    "unknown_agent",
    "unknown_export",
    "unknown_process",
    "unknown_rule",
}


def _codes_with_commands_in_hints() -> Iterator[object]:
    for path in Path(callboard.__path__[0]).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Refusal":
                hints = (ast.unparse(keyword.value) for keyword in node.keywords if keyword.arg == "hint")
                if any(re.search(rf"\b{name}\b", hint) for hint in hints for name in COMMANDS):
                    yield from (inner.value for inner in ast.walk(node.args[0]) if isinstance(inner, ast.Constant))


def test_each_hint_that_names_a_command_has_one_for_the_command_line():
    """SAFE-05: a dropped hint leaves an error without what to do next."""
    replaced = {
        code
        for code in get_args(Code)
        if translate_problem(Problem(code=code, message="It is not there.", hint="Use list_sessions.")).hint
    }
    assert set(_codes_with_commands_in_hints()) - replaced == NEVER_RECEIVED


@pytest.mark.parametrize("code", CODES)
def test_no_hint_at_the_command_line_names_a_command_of_the_api(code: Code):
    for command in COMMANDS:
        problem = Problem(code=code, message="It is not there.", field="sessionId", hint=f"{command} names them.")
        translated = translate_problem(problem)
        assert (translated.code, translated.message, translated.field) == (code, "It is not there.", "SESSION")
        assert not any(re.search(rf"\b{name}\b", translated.hint) for name in COMMANDS)


_COUNTS = (
    r"\{(?P<value>[^{}]+)\} (?:streams|facts|blobs|sessions|permissions|requests|turns|files|agents|servers|problems)\b"
)


def test_each_count_has_the_singular_of_its_noun():
    """UI-06: `format_count` writes "1 fact"."""
    app = Path(callboard.__path__[0]) / "app"
    counts = [
        (path.name, match["value"]) for path in app.rglob("*.py") for match in re.finditer(_COUNTS, path.read_text())
    ]
    assert counts == []


def test_a_hint_without_a_command_stays():
    problem = Problem(code="thread_busy", message="It runs.", hint="Wait, or interrupt it.")
    assert translate_problem(problem) == problem


def test_an_unknown_session_points_to_the_verb_that_lists_sessions(product: Product):
    product.run("run", "Where is the gauge read?")
    for command in (["view", "ses_none"], ["facts", "ses_none"], ["run", "Hi", "--session", "ses_none"]):
        done = product.run(*command)
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith("unknown_session: ")
        assert "`callboard sessions` lists the sessions." in done.err


def test_an_unknown_task_names_its_option(product: Product):
    product.run("run", "Where is the gauge read?")
    done = product.run("evidence", "last", "--task", "nope")
    assert (done.code, done.out) == (2, "")
    assert done.err.splitlines()[-2:] == [
        "unknown_task: The session has no task nope. [--task]",
        "Leave --task out for the whole session.",
    ]


@pytest.mark.parametrize("verb", ["run Hi", "doctor"])
def test_a_key_of_the_settings_is_named_once(product: Product, verb: str):
    product.home.mkdir()
    (product.home / "settings.toml").write_text("rules = 3\n")
    done = product.run(*verb.split())
    line_ = next(line for line in f"{done.out}{done.err}".splitlines() if "settings.toml, line 1" in line)
    assert line_.endswith("settings.toml, line 1, at `rules`: expected `array`, got `int`.")


def test_a_key_of_a_folders_settings_is_named_once(product: Product):
    (product.folder / ".callboard").mkdir(exist_ok=True)
    (product.folder / ".callboard" / "settings.toml").write_text("rules = 3\n")
    lines = product.run("trust").err.splitlines()
    (message,) = (line for line in lines if "expected `array`" in line)
    assert message.endswith("at `rules`: expected `array`, got `int`.")


@pytest.mark.parametrize(("plain", "note"), [(True, " (plain text, not finalized)"), (False, "")])
def test_m3_a_notification_marks_a_plain_text_result(plain: bool, note: str):
    part = NotificationPart(
        key="k",
        order=1,
        sequence=1,
        turn_id="trn_1",
        thread_id="thr_1",
        at=1,
        agent_id="worker-1",
        task_id="tsk_1",
        status="completed",
        summary="Ok.",
        plain_text=plain,
    )
    assert format_notice(part, 200) == f"⇐ worker-1: completed{note}. Ok."
