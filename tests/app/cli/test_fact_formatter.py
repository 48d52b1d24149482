"""Lines of facts in a terminal."""

from __future__ import annotations

import io

import pytest

from callboard.app.cli.terminal.fact_formatter import format_fact, format_output_tail
from callboard.app.cli.terminal.output import Style
from callboard.app.cli.terminal.team_watcher import HeldOutput
from callboard.contracts.content import BlobRef, Text
from callboard.contracts.entities.plan import PlanStep
from callboard.contracts.facts.action import ActionResolved
from callboard.contracts.facts.agent import AgentSlept, AgentWoke
from callboard.contracts.facts.base import Fact
from callboard.contracts.facts.plan import PlanUpdated
from callboard.contracts.facts.subagent import SubagentCompleted
from callboard.contracts.facts.task import TaskCompleted
from callboard.contracts.facts.tool import ToolCompleted, ToolFailed

AT = 1_700_000_000_000_000


@pytest.mark.parametrize(
    ("fact", "line"),
    [
        (AgentWoke(reason="schedule", due=AT), "+ wakes: scheduled"),
        (AgentWoke(reason="fact", cause="ses_1/7"), "+ wakes: an event triggered it"),
        (AgentSlept(reason="ran", wake_at=AT), "~ sleeps until 2023-11-14T22:13:20Z"),
        (
            AgentSlept(reason="joined", wake_at=AT, wake_on=("turn.failed",)),
            "~ sleeps until 2023-11-14T22:13:20Z, or until there is a turn.failed",
        ),
        (AgentSlept(reason="ran"), "~ sleeps until it receives a message"),
        (AgentSlept(reason="ended"), "~ sleeps for good: its task has ended"),
    ],
)
def test_how_an_agent_sleeps_and_why_it_wakes_is_one_line(fact: Fact, line: str) -> None:
    """UI-22"""
    assert format_fact(fact, Style(io.StringIO()), 200) == line


@pytest.mark.parametrize(
    ("fact", "line"),
    [
        (
            PlanUpdated(steps=(PlanStep("Look", "completed"), PlanStep("Write", "in_progress"))),
            "≡ plan: 1 of 2 done, now Write",
        ),
        (PlanUpdated(steps=(PlanStep("Look", "completed"),), final=True), "≡ plan: 1 of 1 done"),
        (ActionResolved(decision="answer", answer=Text(text="main")), "! your answer: main"),
        (ActionResolved(decision="approve"), "! your answer: approve"),
    ],
)
def test_a_plan_and_an_answer_are_one_line(fact: Fact, line: str) -> None:
    """CTX-03, UI-09"""
    assert format_fact(fact, Style(io.StringIO()), 200) == line


LONG = BlobRef(hash="0" * 64, size=9_000)


@pytest.mark.parametrize(
    ("fact", "lines"),
    [
        (
            ToolCompleted(output=Text(text="a\nb\nRan 2 tests in 0.001s\n\nOK\n"), exit_code=0),
            ["a", "b", "Ran 2 tests…", "OK"],
        ),
        (
            ToolFailed(code="tool_failed", message="", output=Text(text="1\n2\n3\n4\n\x1b[2J5"), exit_code=1),
            ["2", "3", "4", "5"],
        ),
        (
            ToolCompleted(output=Text(text="head", ref=LONG), exit_code=3),
            ["exit 3; its output is too long to show here"],
        ),
        (ToolCompleted(output=Text(text="what a file holds")), []),
        (AgentSlept(reason="ran"), []),
    ],
)
def test_the_last_lines_of_a_commands_output_are_shown(fact: Fact, lines: list[str]) -> None:
    assert format_output_tail(fact, 12 if "Ran" in str(fact) else 80) == lines


def test_lines_held_back_by_a_question_follow_its_answer_in_order() -> None:
    printed: list[str] = []
    lines = HeldOutput(printed.append)
    lines.print("one")
    lines.hold(True)
    lines.print("two")
    lines.print("three")
    assert printed == ["one"]
    lines.hold(False)
    lines.print("four")
    assert printed == ["one", "two", "three", "four"]


@pytest.mark.parametrize(
    ("fact", "line"),
    [
        (SubagentCompleted(result=Text(text="Ok."), plain_text=True), "✓ is done (plain text, not finalized)"),
        (SubagentCompleted(result=Text(text="Ok.")), "✓ is done"),
        (TaskCompleted(summary="Ok.", plain_text=True), "■ on the board: done (plain text, not finalized). Ok."),
        (TaskCompleted(summary="Ok."), "■ on the board: done. Ok."),
    ],
)
def test_m3_a_result_in_plain_text_is_marked_as_not_finalized(fact: Fact, line: str) -> None:
    assert format_fact(fact, Style(io.StringIO()), 200) == line
