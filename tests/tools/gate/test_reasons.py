"""Reasons of questions and denials: codes with parameters, and their English texts (X7)."""

from __future__ import annotations

import json
import re
from typing import Any, get_args

import pytest

from callboard.contracts.facts.permission import Reason, ReasonCode
from callboard.contracts.ports.tools import ToolCall
from callboard.contracts.text.reasons import to_english
from tests.tools.rigs.calls import Agent, rule

NAMES = (
    *("path", "why", "paths", "matcher", "secrets", "mode", "tool", "tools", "find", "power", "globs", "size", "most"),
    *("protected", "verdict", "scope", "call", "hook", "hooks", "said", "how"),
)
PARAMETERS: dict[str, str] = dict.fromkeys(NAMES, "a, b")


@pytest.mark.parametrize("code", get_args(ReasonCode))
def test_every_reason_has_an_english_text_with_its_parameters(code: ReasonCode) -> None:
    text = to_english((Reason(code=code, parameters=PARAMETERS),))
    assert text
    assert re.search(r"[{}]", text) is None


def _call(tool: str, **arguments: Any) -> ToolCall:
    return ToolCall(call_id="cal_1", tool=tool, arguments=json.dumps(arguments))


async def test_a_protected_change_has_a_reason(agent: Agent) -> None:
    """The page translates the reason. The prompt has its English text."""
    evaluation = await agent.toolbox.evaluate(_call("Write", file_path="agents/a.md", content="x"), agent.context)
    assert evaluation.reasons == (Reason(code="protected", parameters={"path": "agents"}),)
    assert evaluation.prompt.endswith("Changes in agents always require approval.")


async def test_a_rule_that_asks_is_a_reason_and_the_mode_is_not(agent: Agent) -> None:
    write = _call("Write", file_path="a.txt", content="x")
    asking = agent.with_context(permission_mode="ask")
    evaluation = await asking.toolbox.evaluate(write, asking.context)
    assert (evaluation.verdict, evaluation.reasons) == ("ask", ())
    ruled = agent.with_context(permission_mode="full", rules=(rule("ask", "Write"),))
    (asks,) = (await ruled.toolbox.evaluate(write, ruled.context)).reasons
    assert (asks.code, asks.parameters) == ("rule_session", {"matcher": "Write"})


async def test_a_destructive_command_has_a_reason_for_its_risk(agent: Agent) -> None:
    asking = agent.with_context(permission_mode="ask")
    evaluation = await asking.toolbox.evaluate(_call("Bash", command="rm -rf build"), asking.context)
    assert evaluation.risk == "high"
    assert evaluation.reasons[-1:] == (Reason(code="destroys"),)


async def test_an_allowed_call_has_no_reasons(agent: Agent) -> None:
    permissive = agent.with_context(permission_mode="full")
    evaluation = await permissive.toolbox.evaluate(_call("Bash", command="rm -rf build"), permissive.context)
    assert (evaluation.verdict, evaluation.reasons) == ("allow", ())


DENIED = [
    ("Read", {"file_path": "../x"}, {}, "through_parent", {"path": "../x"}),
    ("Read", {"file_path": "a.txt"}, {"tools": ("Grep",)}, "not_listed", {"tool": "read"}),
    ("Write", {"file_path": "a.txt", "content": ""}, {"policy": ()}, "lacks_power", {"power": "Patch"}),
    ("Write", {"file_path": "a.py", "content": ""}, {"permission_mode": "planning"}, "planning_documents", {}),
    (
        "Write",
        {"file_path": "a.py", "content": ""},
        {"work_globs": ("docs/**",)},
        "outside_globs",
        {"globs": "docs/**"},
    ),
    ("Read", {"file_path": "a.txt"}, {"rules": (rule("deny", "Read"),)}, "rule_denies_session", {"matcher": "Read"}),
]


@pytest.mark.parametrize(("tool", "arguments", "limits", "code", "parameters"), DENIED)
async def test_a_denial_has_its_reason_as_code_and_in_english(
    agent: Agent, tool: str, arguments: dict[str, Any], limits: dict[str, Any], code: str, parameters: dict[str, str]
) -> None:
    """UI-27: the page translates the reason. The model reads its English text."""
    restricted = agent.with_context(**limits)
    evaluation = await restricted.toolbox.evaluate(_call(tool, **arguments), restricted.context)
    check = evaluation.checks[-1]
    assert (evaluation.verdict, check.verdict, check.reasons[0].code) == ("deny", "deny", code)
    assert check.reasons[0].parameters.items() >= parameters.items()
    assert evaluation.message == check.detail
    assert evaluation.message.startswith(to_english(check.reasons[:1]))


async def test_an_allowed_check_has_its_reasons_as_codes(agent: Agent) -> None:
    ruled = agent.with_context(permission_mode="edits", rules=(rule("allow", "Edit(src/**)"),))
    inside = await ruled.toolbox.evaluate(_call("Write", file_path="src/a.txt", content="x"), ruled.context)
    outside = await ruled.toolbox.evaluate(_call("Write", file_path="b.txt", content="x"), ruled.context)
    codes = {check.name: [reason.code for reason in check.reasons] for check in inside.checks}
    assert (codes["rules"], codes["approval"]) == (["rule_applied"], ["rule_allows_session"])
    assert outside.checks[-1].reasons == (Reason(code="mode_applies", parameters={"mode": "edits"}),)
