"""What a terminal says of a fact."""

from __future__ import annotations

import io

import pytest

from callboard.app.cli.narrating import narrated
from callboard.app.cli.terminal import Style
from callboard.contracts.content import Text
from callboard.contracts.facts import ActionResolved, AgentSlept, AgentWoke, Fact, PlanUpdated
from callboard.contracts.plan import PlanStep

AT = 1_700_000_000_000_000


@pytest.mark.parametrize(
    ("fact", "said"),
    [
        (AgentWoke(reason="schedule", due=AT), "+ wakes: it is time"),
        (AgentWoke(reason="fact", cause="ses_1/7"), "+ wakes: something happened that it wakes on"),
        (AgentSlept(reason="ran", wake_at=AT), "~ sleeps until 2023-11-14T22:13:20Z"),
        (
            AgentSlept(reason="joined", wake_at=AT, wake_on=("turn.failed",)),
            "~ sleeps until 2023-11-14T22:13:20Z, or until there is a turn.failed",
        ),
        (AgentSlept(reason="ran"), "~ sleeps until somebody turns to it"),
        (AgentSlept(reason="ended"), "~ sleeps for good: its task is over"),
    ],
)
def test_how_an_agent_sleeps_and_why_it_wakes_is_one_line(fact: Fact, said: str) -> None:
    """UI-22"""
    assert narrated(fact, Style(io.StringIO()), 200) == said


@pytest.mark.parametrize(
    ("fact", "said"),
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
def test_a_plan_and_an_answer_are_one_line(fact: Fact, said: str) -> None:
    """CTX-03, UI-09"""
    assert narrated(fact, Style(io.StringIO()), 200) == said
