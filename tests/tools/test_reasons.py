"""Why a person is asked: codes with parameters, and the same in English (X7)."""

from __future__ import annotations

import json
import re
from typing import Any, get_args

import pytest

from callboard.contracts.facts.action import Reason, ReasonCode
from callboard.contracts.ports.tools import ToolCall
from callboard.tools import reasons
from tests.tools.calling import Agent, rule

PARAMETERS: dict[str, str] = dict.fromkeys(("path", "why", "paths", "matcher", "secrets", "mode"), "a, b")


@pytest.mark.parametrize("code", get_args(ReasonCode))
def test_every_reason_has_an_english_text_whose_values_it_names(code: ReasonCode) -> None:
    said = reasons.english((Reason(code=code, parameters=PARAMETERS),))
    assert said
    assert re.search(r"[{}]", said) is None


def _call(tool: str, **asked: Any) -> ToolCall:
    return ToolCall(call_id="cal_1", tool=tool, arguments=json.dumps(asked))


async def test_a_change_of_what_is_protected_names_it_in_a_code(agent: Agent) -> None:
    """The page words it in its language; the prompt says the same in English."""
    evaluation = await agent.toolbox.evaluate(_call("Write", file_path="agents/a.md", content="x"), agent.context)
    assert evaluation.reasons == (Reason(code="protected", parameters={"path": "agents"}),)
    assert evaluation.prompt.endswith("What is in agents is changed with an approval only.")


async def test_a_rule_that_asks_is_named_and_a_question_of_the_mode_needs_no_reason(agent: Agent) -> None:
    write = _call("Write", file_path="a.txt", content="x")
    asking = agent.having(permission_mode="ask")
    evaluation = await asking.toolbox.evaluate(write, asking.context)
    assert (evaluation.verdict, evaluation.reasons) == ("ask", ())
    held = agent.having(permission_mode="full", rules=(rule("ask", "Write"),))
    (asks,) = (await held.toolbox.evaluate(write, held.context)).reasons
    assert (asks.code, asks.parameters) == ("rule_session", {"matcher": "Write"})


async def test_a_command_that_may_destroy_says_so_beside_its_risk(agent: Agent) -> None:
    asking = agent.having(permission_mode="ask")
    evaluation = await asking.toolbox.evaluate(_call("Bash", command="rm -rf build"), asking.context)
    assert evaluation.risk == "high"
    assert evaluation.reasons[-1:] == (Reason(code="destroys"),)


async def test_a_call_that_is_allowed_has_no_reasons(agent: Agent) -> None:
    held = agent.having(permission_mode="full")
    evaluation = await held.toolbox.evaluate(_call("Bash", command="rm -rf build"), held.context)
    assert (evaluation.verdict, evaluation.reasons) == ("allow", ())
