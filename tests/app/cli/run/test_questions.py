"""Questions of agents in the terminal: plans, options, forms of tool servers."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from callboard.app.cli.terminal.questions import Answer, QuestionContext, format_choices, parse_answer, read_context
from callboard.contracts.facts.action import Decision
from callboard.contracts.rows.action import ActionRow
from tests.app.rigs.product import Product, says, uses


def row(*decisions: Decision) -> ActionRow:
    return ActionRow(
        key="act_1",
        order=1,
        sequence=1,
        action_id="act_1",
        action_type="clarification",
        turn_id="trn_1",
        thread_id="thr_1",
        agent_id="lead",
        prompt="Which?",
        decisions=decisions,
        required_at=1,
    )


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("a", Answer("approve")),
        ("yes", Answer("approve")),
        ("r too much", Answer("reject", reason="too much")),
        ("a smaller one", Answer("answer", text="a smaller one")),
        ("", None),
        ("a edits", Answer("approve", permission_mode="edits")),
        ("A Ask", Answer("approve", permission_mode="ask")),
        ("a full", None),
    ],
)
def test_a_plan_is_approved_sent_back_or_answered_by_a_line(line: str, answer: Answer | None) -> None:
    """CTL-04"""
    plan = msgspec.structs.replace(row("approve", "answer", "reject"), modes=("edits", "ask"))
    assert parse_answer(line, plan, QuestionContext(steps=("Read it",))) == answer


@pytest.mark.parametrize(("line", "answer"), [("2", "blue"), ("3", "3"), ("0", "0"), ("a", "a"), ("green", "green")])
def test_a_number_chooses_an_option_and_any_other_text_is_the_answer(line: str, answer: str) -> None:
    assert parse_answer(line, row("answer", "reject"), QuestionContext(options=("red", "blue"))) == Answer(
        "answer", text=answer
    )


def test_a_plan_is_shown_with_its_steps_and_approved(product: Product) -> None:
    """CTL-04"""
    product.plays({"calls": [uses("propose_plan", summary="Rework it", steps=["Read it", "Change it"]), says("Good.")]})
    with product.terminal("run", "Plan it") as terminal:
        output = terminal.until("[a]pprove")
        assert [line.strip() for line in output.splitlines() if "│" in line] == ["│ 1 Read it", "│ 2 Change it"]
        terminal.send("a\n")
        terminal.until("Good.")
        assert terminal.wait() == 0
    assert last_resolution(product)["decision"] == "approve"


def test_a_plan_is_accepted_with_the_mode_that_carries_it_out(product: Product) -> None:
    """D4: the terminal offers the modes, the default first, and reports the chosen one."""
    product.plays({"calls": [uses("propose_plan", summary="Rework it", steps=["Read it"]), says("Good.")]})
    with product.terminal("run", "--permission", "planning", "Plan it") as terminal:
        terminal.until("[a]pprove, continue in ask, `a edits`: in edits")
        terminal.send("a edits\n")
        terminal.until("Approved, continues in edits.")
        terminal.until("Good.")
        assert terminal.wait() == 0
    assert last_resolution(product)["permissionMode"] == "edits"


def test_a_question_is_shown_with_its_options(product: Product) -> None:
    product.plays({"calls": [uses("ask_person", question="Which colour?", options=["red", "blue"]), says("Good.")]})
    with product.terminal("run", "Ask me") as terminal:
        output = terminal.until("a number, or your answer")
        assert [line.strip() for line in output.splitlines() if "│" in line] == ["│ 1 red", "│ 2 blue"]
        terminal.send("2\n")
        terminal.until("Good.")
        assert terminal.wait() == 0
    assert last_resolution(product)["answer"]["text"] == "blue"


def test_a_form_is_shown_with_its_fields_and_answered_as_one_object() -> None:
    action = row("answer", "reject")
    fields = {
        "city": {"type": "string", "description": "where it is\x1b"},
        "when": {"enum": ["now", "later"]},
        "days": {"type": "integer"},
    }
    form = msgspec.json.encode({"schema": {"properties": fields, "required": ["city", "when"]}}).decode()
    there = read_context(action, form)
    assert there.format_lines() == ["city: string where it is⟨U+001B⟩", "when: now | later", "days: integer, optional"]
    assert "as a JSON object of these" in format_choices(action, there, is_folded=False)
    assert parse_answer('{"city": "Bern"}', action, there) == Answer("answer", text='{"city": "Bern"}')
    assert read_context(row("approve", "reject"), form) == QuestionContext()


def test_a_question_without_a_user_is_reported_as_unanswered(product: Product) -> None:
    product.plays({"calls": [uses("ask_person", question="Which colour?"), says("Good.")]})
    done = product.run("run", "Ask me", "--approve", "all")
    assert (done.code, "Which colour? Not answered: no person is present." in done.err) == (4, True)
    assert last_resolution(product)["reason"] == "No person was present to answer it."


def last_resolution(product: Product) -> dict[str, Any]:
    """Return the resolution of the last action."""
    facts = product.run("facts", "last", "--json").json
    return [fact["payload"] for fact in facts if fact["type"] == "action.resolved"][-1]
