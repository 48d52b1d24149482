"""What a terminal says of a fact."""

from __future__ import annotations

import io

import pytest

from callboard.app.cli.narrating import narrated
from callboard.app.cli.terminal import Style
from callboard.contracts.facts import AgentSlept, AgentWoke, Fact

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
