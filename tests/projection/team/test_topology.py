"""The topology of a team, and edges that are added later."""

from __future__ import annotations

import pytest

from callboard.contracts.content import Text
from callboard.contracts.entities.handoff_payload import Payload
from callboard.contracts.entities.team import Edge
from callboard.contracts.facts.agent import EdgeAdded
from callboard.contracts.facts.exchange.channel import ChannelMessage
from callboard.contracts.facts.exchange.handoff import HandoffRejected, HandoffRequested
from callboard.contracts.facts.turn import TurnCompleted
from callboard.contracts.rows.message import MessageRow
from callboard.contracts.rows.team import EdgeRow, TeamRow
from callboard.projection.team.messages import MAX_MESSAGES
from tests.projection.runs import with_ids
from tests.projection.session_builder import RUN, THREAD, SessionBuilder, model_session
from tests.projection.team.scenarios import (
    CRITIC,
    background_session,
    handoff_session,
    human_session,
    parallel_session,
    remote_session,
    review_session,
    rows_over_time,
)
from tests.projection.team.worker_team import add_facts, specialist_fact, team_session

TO_CRITIC = with_ids(RUN, handoff="han_1")


def handoff_request(edge: str = "handoff", target: str = "critic") -> HandoffRequested:
    return HandoffRequested(
        source="solo",
        target=target,
        to_thread=f"thr_{target}",
        edge="report" if edge == "report" else "handoff",
        payload=Payload(message="Yours."),
    )


def topology(session: SessionBuilder) -> str:
    (row,) = session.table.list_rows(TeamRow)
    return row.topology


@pytest.mark.parametrize(
    ("session", "reads"),
    [
        (team_session(), "coordinator_team"),
        (parallel_session(), "parallel_workers"),
        (review_session(), "review_team"),
        (handoff_session(), "specialist_handoff"),
        (human_session(), "human_agent_board"),
        (background_session(), "background_teammate"),
        (remote_session(), "remote_teammate"),
    ],
)
def test_the_topology_follows_from_the_facts(session: SessionBuilder, reads: str):
    """UI-18: each topology follows from the work, none from membership."""
    assert topology(session) == reads


def test_a_main_agent_that_hands_over_and_stops_makes_a_specialist_handoff():
    """UI-18, UI-19: also if the session keeps its owner."""
    session = add_facts(model_session(), specialist_fact("critic"), (handoff_request(), TO_CRITIC))
    assert topology(session) == "coordinator_team"
    assert topology(session.add(TurnCompleted(iterations=1), RUN)) == "specialist_handoff"


@pytest.mark.parametrize("edge", ["report", "rejected", "child"])
def test_a_message_a_rejection_or_work_for_a_child_is_not_a_specialist_handoff(edge: str):
    """UI-18"""
    session = add_facts(team_session(), specialist_fact("critic"))
    add_facts(session, (handoff_request(edge, "writer-1" if edge == "child" else "critic"), TO_CRITIC))
    if edge == "rejected":
        refused = HandoffRejected(source="solo", target="critic", to_thread=THREAD.thread)
        session.add(refused, with_ids(CRITIC, handoff="han_1"))
    assert topology(session.add(TurnCompleted(iterations=1), RUN)) == "coordinator_team"


def test_an_edge_that_is_added_is_a_path_once_both_ends_are_there():
    """MAR-01, COM-01: no definition declares it."""
    session = team_session().add(
        EdgeAdded(source="solo", edge=Edge(to="critic", direction="both", confirm=True)), THREAD
    )
    assert [row.key for row in session.table.list_rows(EdgeRow) if row.edge_type == "path"] == []
    add_facts(session, specialist_fact("critic"))
    (row,) = (row for row in session.table.list_rows(EdgeRow) if row.edge_type == "path")
    assert (row.key, row.direction, row.confirm, row.edge_kind) == ("path:solo>critic", "both", True, "handoff")


def test_the_panel_of_messages_has_the_newest_messages():
    """UI-27: the panel has a limited number of messages."""
    session = team_session()
    for number in range(MAX_MESSAGES + 7):
        message = ChannelMessage(
            item=f"itm_{number:04}",
            source="solo",
            participants=("solo", "writer-1"),
            to_threads=("thr_w1",),
            message=Text(text="Hi"),
        )
        session.add(message, with_ids(RUN, channel="cha_1"))
    held = [row.key for row in session.table.list_rows(MessageRow)]
    assert held == [f"itm_{number:04}" for number in range(7, MAX_MESSAGES + 7)]
    assert len(rows_over_time(session, MessageRow)) == MAX_MESSAGES + 7
