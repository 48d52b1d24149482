"""The topology of a team, and edges that are added later."""

from __future__ import annotations

import pytest

from callboard.contracts.content import Text
from callboard.contracts.entities.handoff_payload import Payload
from callboard.contracts.entities.team import Edge
from callboard.contracts.facts.agent import EdgeAdded
from callboard.contracts.facts.handoff import ChannelMessage, HandoffRejected, HandoffRequested
from callboard.contracts.facts.turn import TurnCompleted
from callboard.contracts.rows.team import EdgeRow, MessageRow, TeamRow
from callboard.projection.team.messages import MESSAGES
from tests.projection.runs import within
from tests.projection.story import RUN, THREAD, Story, model_story
from tests.projection.team.tales import (
    CRITIC,
    background_story,
    handoff_story,
    human_story,
    parallel_story,
    remote_story,
    review_story,
    rows_over_time,
)
from tests.projection.team.troupe import add_facts, specialist_fact, team

TO_CRITIC = within(RUN, handoff="han_1")


def handed_over(edge: str = "handoff", target: str = "critic") -> HandoffRequested:
    return HandoffRequested(
        source="solo",
        target=target,
        to_thread=f"thr_{target}",
        edge="report" if edge == "report" else "handoff",
        payload=Payload(message="Yours."),
    )


def topology(story: Story) -> str:
    (row,) = story.table.panel(TeamRow)
    return row.topology


@pytest.mark.parametrize(
    ("story", "reads"),
    [
        (team(), "coordinator_team"),
        (parallel_story(), "parallel_workers"),
        (review_story(), "review_team"),
        (handoff_story(), "specialist_handoff"),
        (human_story(), "human_agent_board"),
        (background_story(), "background_teammate"),
        (remote_story(), "remote_teammate"),
    ],
)
def test_the_topology_follows_from_the_facts(story: Story, reads: str):
    """UI-18: each topology follows from the work, none from membership."""
    assert topology(story) == reads


def test_a_main_agent_that_hands_over_and_stops_makes_a_specialist_handoff():
    """UI-18, UI-19: also if the session keeps its owner."""
    story = add_facts(model_story(), specialist_fact("critic"), (handed_over(), TO_CRITIC))
    assert topology(story) == "coordinator_team"
    assert topology(story.say(TurnCompleted(iterations=1), RUN)) == "specialist_handoff"


@pytest.mark.parametrize("edge", ["report", "rejected", "child"])
def test_a_message_a_rejection_or_work_for_a_child_is_not_a_specialist_handoff(edge: str):
    """UI-18"""
    story = add_facts(team(), specialist_fact("critic"))
    add_facts(story, (handed_over(edge, "writer-1" if edge == "child" else "critic"), TO_CRITIC))
    if edge == "rejected":
        refused = HandoffRejected(source="solo", target="critic", to_thread=THREAD.thread)
        story.say(refused, within(CRITIC, handoff="han_1"))
    assert topology(story.say(TurnCompleted(iterations=1), RUN)) == "coordinator_team"


def test_an_edge_that_is_added_is_a_path_once_both_ends_are_there():
    """MAR-01, COM-01: no definition declares it."""
    story = team().say(EdgeAdded(source="solo", edge=Edge(to="critic", direction="both", confirm=True)), THREAD)
    assert [row.key for row in story.table.panel(EdgeRow) if row.edge_type == "path"] == []
    add_facts(story, specialist_fact("critic"))
    (row,) = (row for row in story.table.panel(EdgeRow) if row.edge_type == "path")
    assert (row.key, row.direction, row.confirm, row.edge_kind) == ("path:solo>critic", "both", True, "handoff")


def test_the_panel_of_messages_has_the_newest_messages():
    """UI-27: the panel has a limited number of messages."""
    story = team()
    for number in range(MESSAGES + 7):
        said = ChannelMessage(
            item=f"itm_{number:04}",
            source="solo",
            participants=("solo", "writer-1"),
            to_threads=("thr_w1",),
            message=Text(text="Hi"),
        )
        story.say(said, within(RUN, channel="cha_1"))
    held = [row.key for row in story.table.panel(MessageRow)]
    assert held == [f"itm_{number:04}" for number in range(7, MESSAGES + 7)]
    assert len(rows_over_time(story, MessageRow)) == MESSAGES + 7
