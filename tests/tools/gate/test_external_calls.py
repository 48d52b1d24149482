"""Verdicts on an external agent's own calls."""

from __future__ import annotations

from typing import Any

import pytest

from callboard.contracts.facts.permission import Reason, Rule, Verdict
from callboard.contracts.ports.external import CallKind, ExternalCall, ExternalDiff
from callboard.contracts.ports.tools import ToolContext
from callboard.tools.gate import external_calls, external_starts


def context(**changes: Any) -> ToolContext:
    defaults: dict[str, Any] = {
        "folder": "/srv/site",
        "agent": "coder",
        "definition_hash": "d1",
        "tools": ("*",),
        "policy": ("Patch",),
        "mode": "chat",
        "permission_mode": "ask",
    }
    return ToolContext(**{**defaults, **changes})


def call(kind: CallKind, *paths: str, command: str = "") -> ExternalCall:
    return ExternalCall(call_id="c", title=command or "It", kind=kind, paths=paths, command=command)


def rule(matcher: str, verdict: Verdict) -> Rule:
    return Rule(rule_id="rul_1", matcher=matcher, verdict=verdict, scope="session")


@pytest.mark.parametrize(
    ("external_call", "limits", "code"),
    [
        (call("edit", "a.py"), {"tools": ("Read",)}, "tool_not_listed"),
        (call("fetch"), {"tools": ("Read",)}, "tool_not_listed"),
        (call("delete", "a.py"), {"policy": ()}, "policy_denied"),
        (call("edit", "a.py"), {"read_only": True}, "policy_denied"),
        (call("execute", command="make"), {"policy": ()}, "policy_denied"),
        (call("execute", command="make"), {"work_globs": ("docs/**",)}, "policy_denied"),
        (call("edit", "src/a.py"), {"permission_mode": "planning"}, "mode_denied"),
        (call("execute", command="make"), {"permission_mode": "planning"}, "mode_denied"),
        (call("read", "/etc/passwd"), {}, "path_denied"),
        (call("edit", "a/../../b"), {"permission_mode": "full"}, "path_denied"),
        (call("edit", "src/a.py"), {"work_globs": ("docs/**",)}, "path_denied"),
        (call("edit", "src/a.py"), {"work_globs": ("src/**",), "parent_globs": ("docs/**",)}, "path_denied"),
        (call("execute", command="rm -rf x"), {"rules": (rule("Bash(rm *)", "deny"),)}, "rule_denied"),
        (call("edit", "a.py", "b.py"), {"rules": (rule("Edit(b.py)", "deny"),)}, "rule_denied"),
    ],
)
def test_a_forbidden_call_is_denied_without_a_question(external_call: ExternalCall, limits: dict[str, Any], code: str):
    evaluation = external_calls.evaluate_permission(external_call, context(**limits))

    assert (evaluation.verdict, evaluation.code) == ("deny", code)
    assert evaluation.checks[-1].verdict == "deny"


@pytest.mark.parametrize(
    ("external_call", "limits"),
    [
        (call("read", "/srv/site/a.py"), {}),
        (call("think"), {"tools": ()}),
        (call("edit", "a.py"), {"permission_mode": "edits"}),
        (call("edit", "docs/a.md"), {"permission_mode": "full", "work_globs": ("docs/**",)}),
        (call("execute", command="make all"), {"rules": (rule("Bash(make *)", "allow"),)}),
        (call("edit", "a.py", "b.py"), {"rules": (rule("Edit(*.py)", "allow"),)}),
    ],
)
def test_a_call_that_a_rule_or_mode_allows_does_not_ask(external_call: ExternalCall, limits: dict[str, Any]):
    assert external_calls.evaluate_permission(external_call, context(**limits)).verdict == "allow"


@pytest.mark.parametrize(
    ("external_call", "limits", "offered"),
    [
        (call("execute", command="make"), {"permission_mode": "full"}, "Bash(make)"),
        (call("edit", "a.py"), {}, "Edit(a.py)"),
        (call("edit", ".git/config"), {"permission_mode": "full"}, ""),
        (call("edit", ".git/config"), {"rules": (rule("Edit", "allow"),)}, ""),
        (call("edit", "a.py", "b.py"), {"rules": (rule("Edit(a.py)", "allow"),)}, ""),
        (call("edit", "a.py"), {"permission_mode": "full", "rules": (rule("Edit", "ask"),)}, ""),
        (call("other"), {"permission_mode": "full"}, ""),
    ],
)
def test_other_calls_require_approval(external_call: ExternalCall, limits: dict[str, Any], offered: str):
    evaluation = external_calls.evaluate_permission(external_call, context(**limits))

    assert evaluation.verdict == "ask"
    assert evaluation.matchers == ({"session": offered, "workspace": offered} if offered else {})
    assert evaluation.prompt


def test_a_call_without_a_request_is_recorded_as_run_without_approval():
    evaluation = external_calls.evaluate_observed(call("execute", command="rm -rf x"), context(policy=()))

    assert (evaluation.verdict, evaluation.risk, evaluation.checks[0].reasons) == (
        "allow",
        "high",
        (Reason(code="runs_itself"),),
    )


def test_an_agent_starts_after_approval_or_by_a_rule():
    command = ("codex-acp", "--model", "a b")
    exact = "StartAgent(codex-acp --model 'a b')"
    asks = external_starts.evaluate_start(command, context(permission_mode="full"))
    allowed = external_starts.evaluate_start(command, context(rules=(rule(exact, "allow"),)))
    other = external_starts.evaluate_start(("codex-acp", "--yolo"), context(rules=(rule(exact, "allow"),)))
    denied = external_starts.evaluate_start(command, context(rules=(rule("StartAgent", "deny"),)))

    assert [evaluation.verdict for evaluation in (asks, allowed, other, denied)] == ["ask", "allow", "ask", "deny"]
    assert asks.preview == "codex-acp --model 'a b'"
    assert asks.matchers == {"session": exact, "workspace": exact}
    assert denied.code == "rule_denied"


def test_a_reported_change_has_a_diff_and_no_content():
    reported = ExternalCall(call_id="c", diffs=(ExternalDiff(path="/srv/site/a.py", before="old\n", after="new\n"),))
    (change,), _ = external_calls.list_changes(reported, context())

    assert (change.path, change.kind, change.added, change.removed) == ("a.py", "modified", 1, 1)
    assert (change.before, change.after) == (None, None)


@pytest.mark.parametrize(
    ("call", "prompt"),
    [
        (ExternalCall(call_id="c", title="Edit files", kind="edit", paths=("a.py",)), "Edit a.py?"),
        (ExternalCall(call_id="c", title="Edit files", kind="edit"), "Edit? The agent describes it as: Edit files."),
        (
            ExternalCall(call_id="c", title="Writing to a file", kind="edit"),
            "Edit? The agent describes it as: Writing to a file.",
        ),
        (ExternalCall(call_id="c", title="Edit", kind="edit", paths=tuple("abcde")), "Edit a, b, c and 2 more?"),
        (ExternalCall(call_id="c", title="`make`", kind="execute", command="make"), "Bash make?"),
    ],
)
def test_a_title_is_separate_from_the_tool_name(call: ExternalCall, prompt: str):
    """A7."""
    assert external_calls.evaluate_permission(call, context(permission_mode="ask")).prompt.startswith(
        f"{prompt} The agent asks"
    )


@pytest.mark.parametrize(("mode", "ends"), [("", ""), ("own", " [mode own]"), ("yolo", " [mode yolo]")])
def test_a_rule_allows_only_the_mode_of_the_definition(mode: str, ends: str):
    """A1: a rule for the command alone does not cover a definition that names a mode later."""
    plain = rule("StartAgent(gemini --acp)", "allow")
    evaluation = external_starts.evaluate_start(("gemini", "--acp"), context(rules=(plain,)), mode=mode)

    assert evaluation.verdict == ("ask" if mode else "allow")
    assert evaluation.preview == f"gemini --acp{ends}"
    assert evaluation.matchers.get("session", f"StartAgent(gemini --acp{ends})") == f"StartAgent(gemini --acp{ends})"
