"""Rows of remote agents: reported states, artifacts and lost connections."""

from __future__ import annotations

from itertools import groupby

import pytest

from callboard.contracts.content import Text
from callboard.contracts.entities.team import RemoteTaskState
from callboard.contracts.facts.agent import AgentDisconnected, RemoteArtifact, RemotePart
from callboard.contracts.facts.base import Fact
from callboard.contracts.facts.model import ModelFailed
from callboard.contracts.facts.turn import TurnCompleted, TurnFailed
from callboard.contracts.rows.team import AgentRow, DeliveredArtifact, RemoteWork, TeamRow
from callboard.contracts.scope import Scope
from tests.projection.runs import within
from tests.projection.story import Story, model_story
from tests.projection.team.tales import (
    CARD_URL,
    SCOUT,
    action_fact,
    answer_fact,
    connect_fact,
    remote_artifact_fact,
    remote_story,
    remote_task_fact,
    rows_over_time,
    run_facts,
    run_scope,
    scout_fact,
    scout_handoff_fact,
)
from tests.projection.team.troupe import add_facts, team

ENDS = TurnCompleted(iterations=1), run_scope(SCOUT, 1)
GONE = AgentDisconnected(provider_session_id="ctx_1", reason="no answer"), SCOUT


def scouted(*said: tuple[Fact, Scope]) -> Story:
    return add_facts(model_story(), scout_fact(), *run_facts(SCOUT, 1), connect_fact(), *said)


def row_of(story: Story) -> AgentRow:
    row = story.table.row(AgentRow, "scout")
    assert row is not None
    return row


def work_of(story: Story) -> RemoteWork:
    work = row_of(story).remote
    assert work is not None
    return work


def test_each_reported_state_of_a_remote_task_is_shown():
    """UI-23"""
    rows = rows_over_time(remote_story(), AgentRow, "scout")
    found = [row.remote.task_state for row in rows if row.remote is not None and row.remote.task_state is not None]
    assert [state for state, _ in groupby(found)] == [
        *("submitted", "working", "input_required", "auth_required", "completed"),
        *("failed", "canceled", "rejected", "unknown"),
    ]


def test_a_remote_agent_shows_its_card_and_each_artifact_once():
    """UI-23"""
    story = scouted(
        remote_task_fact("working", message="on my way"),
        remote_artifact_fact("report"),
        remote_artifact_fact("log"),
        remote_artifact_fact("report"),
    )
    told_at = rows_over_time(story, AgentRow, "scout")[-4].last_activity
    at = row_of(story).last_activity
    parts = tuple((RemotePart(media="text/plain", text=Text(text=f"of {name}")),) for name in ("log", "report"))
    assert work_of(story) == RemoteWork(
        url=CARD_URL,
        name="Scout 9",
        version="2",
        card=Text(text="{}"),
        task_id="rmt_1",
        task_state="working",
        message=Text(text="on my way"),
        told_at=told_at,
        artifacts=(
            DeliveredArtifact(artifact_id="log", task_id="rmt_1", name="log", parts=parts[0], at=at - 1_000),
            DeliveredArtifact(artifact_id="report", task_id="rmt_1", name="report", parts=parts[1], at=at),
        ),
    )


@pytest.mark.parametrize(
    ("state", "at_work", "at_rest"),
    [
        ("submitted", "running", "waiting"),
        ("working", "running", "waiting"),
        ("input_required", "needs_input", "needs_input"),
        ("auth_required", "needs_input", "needs_input"),
        ("completed", "running", "idle"),
        ("canceled", "running", "idle"),
        ("failed", "running", "failed"),
        ("rejected", "running", "failed"),
        ("unknown", "running", "unknown"),
    ],
)
def test_an_unfinished_remote_task_never_appears_as_done(state: RemoteTaskState, at_work: str, at_rest: str):
    """UI-23, UI-24: its need is visible, and the end of our turn does not end its task."""
    story = scouted(remote_task_fact(state))
    assert row_of(story).state == at_work
    assert row_of(add_facts(story, ENDS)).state == at_rest


def test_a_remote_agents_need_is_a_question_until_its_answer():
    """UI-23"""
    story = scouted(
        remote_task_fact("input_required"), action_fact("clarification", run_scope(SCOUT, 1), "answer", "reject")
    )
    asked_row = row_of(story)
    assert (asked_row.state, asked_row.blocked_on, asked_row.degraded) == (
        "needs_input",
        "act_run_scout1",
        ("permission_blocked",),
    )
    add_facts(story, answer_fact(run_scope(SCOUT, 1)), remote_task_fact("working"))
    assert (row_of(story).state, row_of(story).degraded) == ("running", ())


def test_a_remote_agent_that_disconnects_during_its_task_is_unavailable():
    """SUB-05, COM-13: its work is not completed, and the team is degraded."""
    story = scouted(
        remote_task_fact("working"), (TurnFailed(code="remote_unavailable", message=""), run_scope(SCOUT, 1)), GONE
    )
    row = row_of(story)
    assert (row.state, row.connection, row.degraded) == ("failed", "disconnected", ("remote_unavailable",))
    assert [one.degraded for one in story.table.panel(TeamRow)] == [("remote_unavailable",)]
    add_facts(story, connect_fact())
    assert (row_of(story).connection, row_of(story).degraded) == ("idle", ())
    assert [one.degraded for one in story.table.panel(TeamRow)] == [()]


def test_a_remote_agent_that_disconnects_after_its_task_is_not_degraded():
    """SUB-05: no result is missing."""
    story = scouted(remote_task_fact("completed"), ENDS, GONE)
    row = row_of(story)
    assert (row.state, row.connection, row.degraded) == ("idle", "disconnected", ())


def test_a_remote_agent_that_was_never_reached_is_unavailable():
    """SUB-05, UI-23"""
    failed = ModelFailed(code="remote_unavailable", message="no answer"), within(run_scope(SCOUT, 1), step=1)
    story = add_facts(model_story(), scout_fact(), *run_facts(SCOUT, 1), failed)
    assert (row_of(story).connection, row_of(story).degraded) == ("disconnected", ("remote_unavailable",))


def test_only_the_newest_remote_artifacts_remain_complete():
    """UI-23: the roster stays small for any number of artifacts."""
    story = scouted(*(remote_artifact_fact(f"a{number}") for number in range(60)))
    assert [one.name for one in work_of(story).artifacts] == [f"a{number}" for number in range(10, 60)]
    large = (RemotePart(media="text/plain", text=Text(text="x" * 8_000)),)
    for number in range(20):
        fact = RemoteArtifact(remote_task_id="rmt_1", remote_artifact_id=f"l{number}", parts=large)
        story.say(fact, run_scope(SCOUT, 1))
    kept = [bool(one.parts) for one in work_of(story).artifacts]
    assert (len(kept), sum(kept), kept[-8:]) == (50, 8, [True] * 8)


def test_a_handoff_to_a_remote_agent_makes_the_topology_remote():
    """UI-18"""
    story = add_facts(team(), scout_fact())
    assert [row.topology for row in story.table.panel(TeamRow)] == ["coordinator_team"]
    add_facts(story, scout_handoff_fact())
    assert [row.topology for row in story.table.panel(TeamRow)] == ["remote_teammate"]
