"""Verdicts on the creation of agents and edges."""

from __future__ import annotations

import json
from typing import Any

import pytest

from callboard.contracts.facts.permission import Check
from callboard.contracts.ports.tools import ToolCall
from tests.tools.rigs.calls import Agent, rule, to_english_checks

PAINTER: dict[str, Any] = {"name": "painter", "description": "Paints.", "prompt": "You paint.", "tools": ["Write"]}


@pytest.mark.parametrize("mode", ["planning", "ask", "edits", "full"])
@pytest.mark.parametrize(("tool", "arguments"), [("define_agent", PAINTER), ("add_edge", {"to": "critic"})])
async def test_creating_agents_requires_approval_in_every_mode_and_under_every_rule(
    agent: Agent, mode: str, tool: str, arguments: dict[str, Any]
):
    """MAR-05"""
    ruled = agent.with_context(permission_mode=mode, rules=(rule("allow", tool), rule("allow", f"{tool}(*)")))

    evaluation = await ruled.toolbox.evaluate(_call(tool, arguments), ruled.context)

    assert (evaluation.verdict, evaluation.risk, evaluation.read_only) == ("ask", "medium", False)
    assert (evaluation.scopes, evaluation.matchers) == (("once",), {})
    assert Check(
        name="approval", verdict="ask", detail="Creating agents and connections always requires approval."
    ) in to_english_checks(evaluation.checks)
    assert evaluation.binding is not None


async def test_a_rule_can_deny_the_creation_of_agents(agent: Agent):
    ruled = agent.with_context(rules=(rule("deny", "define_agent"),))

    assert (await ruled.toolbox.evaluate(_call("define_agent", PAINTER), ruled.context)).code == "rule_denied"


async def test_the_row_describes_the_new_agent(agent: Agent):
    definition = await agent.toolbox.evaluate(_call("define_agent", PAINTER), agent.context)
    edge = await agent.toolbox.evaluate(_call("add_edge", {"source": "clerk", "to": "critic"}), agent.context)

    assert definition.summary == "define_agent painter (subagent): Paints."
    assert definition.prompt == (
        "define_agent painter (subagent): Paints.? Creating agents and connections always requires approval."
    )
    assert edge.summary == "add_edge clerk → critic: handoff"


@pytest.mark.parametrize(
    "changes",
    [{"name": "No Name"}, {"prompt": ""}, {"kind": "remote"}, {"description": "two\nlines"}, {"capabilities": []}],
)
async def test_an_invalid_agent_is_refused(agent: Agent, changes: dict[str, Any]):
    evaluation = await agent.toolbox.evaluate(_call("define_agent", {**PAINTER, **changes}), agent.context)

    assert (evaluation.verdict, evaluation.code) == ("deny", "tool_arguments")


def _call(tool: str, arguments: dict[str, Any]) -> ToolCall:
    return ToolCall(call_id="cal_1", tool=tool, arguments=json.dumps(arguments))
