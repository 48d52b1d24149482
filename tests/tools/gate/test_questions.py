"""Verdicts on questions of agents to a person."""

from __future__ import annotations

import json
from typing import Any

import pytest

from callboard.contracts.facts.permission import Check
from callboard.contracts.ports.tools import ToolCall
from tests.tools.rigs.calls import Agent, rule, to_english_checks

PLAN: dict[str, Any] = {"summary": "Fix the parser.", "steps": ["read", "write"]}
QUESTION: dict[str, Any] = {"question": "Which?", "options": ["this", "that"]}


@pytest.mark.parametrize("mode", ["planning", "ask", "edits", "full"])
@pytest.mark.parametrize(("tool", "arguments"), [("propose_plan", PLAN), ("ask_person", QUESTION)])
async def test_a_question_asks_in_every_mode_and_under_every_rule(
    agent: Agent, mode: str, tool: str, arguments: dict[str, Any]
):
    """CTX-03, CTL-04"""
    ruled = agent.with_context(permission_mode=mode, rules=(rule("allow", tool), rule("allow", f"{tool}(*)")))

    evaluation = await ruled.toolbox.evaluate(_call(tool, arguments), ruled.context)

    assert (evaluation.verdict, evaluation.risk, evaluation.read_only) == ("ask", "none", True)
    assert (evaluation.scopes, evaluation.matchers) == (("once",), {})
    assert Check(name="approval", verdict="ask", detail="The agent asks you something.") in to_english_checks(
        evaluation.checks
    )


@pytest.mark.parametrize(("tool", "arguments"), [("propose_plan", PLAN), ("ask_person", QUESTION)])
async def test_no_rule_is_offered_for_questions(agent: Agent, tool: str, arguments: dict[str, Any]):
    """CTL-04: also without a rule for the tool."""
    evaluation = await agent.toolbox.evaluate(_call(tool, arguments), agent.context)

    assert (evaluation.scopes, evaluation.matchers) == (("once",), {})


def _call(tool: str, arguments: dict[str, Any]) -> ToolCall:
    return ToolCall(call_id="cal_1", tool=tool, arguments=json.dumps(arguments))
