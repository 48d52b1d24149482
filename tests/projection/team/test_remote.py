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
from callboard.contracts.rows.agent import AgentRow, DeliveredArtifact, RemoteWork
from callboard.contracts.rows.team import TeamRow
from callboard.contracts.scope import Scope
from tests.projection.runs import with_ids
from tests.projection.session_builder import SessionBuilder, model_session
from tests.projection.team.scenarios import (
    CARD_URL,
    SCOUT,
    action_fact,
    answer_fact,
    connect_fact,
    remote_artifact_fact,
    remote_session,
    remote_task_fact,
    rows_over_time,
    run_facts,
    run_scope,
    scout_fact,
    scout_handoff_fact,
)
from tests.projection.team.worker_team import add_facts, team_session

ENDS = TurnCompleted(iterations=1), run_scope(SCOUT, 1)
GONE = AgentDisconnected(provider_session_id="ctx_1", reason="no answer"), SCOUT


def connected_session(*facts: tuple[Fact, Scope]) -> SessionBuilder:
    return add_facts(model_session(), scout_fact(), *run_facts(SCOUT, 1), connect_fact(), *facts)


def row_of(session: SessionBuilder) -> AgentRow:
    row = session.table.get_row(AgentRow, "scout")
    assert row is not None
    return row


def work_of(session: SessionBuilder) -> RemoteWork:
    work = row_of(session).remote
    assert work is not None
    return work


def test_each_reported_state_of_a_remote_task_is_shown():
    """UI-23"""
    rows = rows_over_time(remote_session(), AgentRow, "scout")
    states = [row.remote.task_state for row in rows if row.remote is not None and row.remote.task_state is not None]
    assert [state for state, _ in groupby(states)] == [
        *("submitted", "working", "input_required", "auth_required", "completed"),
        *("failed", "canceled", "rejected", "unknown"),
    ]


def test_a_remote_agent_shows_its_card_and_each_artifact_once():
    """UI-23"""
    session = connected_session(
        remote_task_fact("working", message="on my way"),
        remote_artifact_fact("report"),
        remote_artifact_fact("log"),
        remote_artifact_fact("report"),
    )
    reported_at = rows_over_time(session, AgentRow, "scout")[-4].last_activity
    at = row_of(session).last_activity
    parts = tuple((RemotePart(media="text/plain", text=Text(text=f"of {name}")),) for name in ("log", "report"))
    assert work_of(session) == RemoteWork(
        url=CARD_URL,
        name="Scout 9",
        version="2",
        card=Text(text="{}"),
        task_id="rmt_1",
        task_state="working",
        message=Text(text="on my way"),
        told_at=reported_at,
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
    session = connected_session(remote_task_fact(state))
    assert row_of(session).state == at_work
    assert row_of(add_facts(session, ENDS)).state == at_rest


def test_a_remote_agents_need_is_a_question_until_its_answer():
    """UI-23"""
    session = connected_session(
        remote_task_fact("input_required"), action_fact("clarification", run_scope(SCOUT, 1), "answer", "reject")
    )
    asked_row = row_of(session)
    assert (asked_row.state, asked_row.blocked_on, asked_row.degraded) == (
        "needs_input",
        "act_run_scout1",
        ("permission_blocked",),
    )
    add_facts(session, answer_fact(run_scope(SCOUT, 1)), remote_task_fact("working"))
    assert (row_of(session).state, row_of(session).degraded) == ("running", ())


def test_a_remote_agent_that_disconnects_during_its_task_is_unavailable():
    """SUB-05, COM-13: its work is not completed, and the team is degraded."""
    session = connected_session(
        remote_task_fact("working"), (TurnFailed(code="remote_unavailable", message=""), run_scope(SCOUT, 1)), GONE
    )
    row = row_of(session)
    assert (row.state, row.connection, row.degraded) == ("failed", "disconnected", ("remote_unavailable",))
    assert [row.degraded for row in session.table.list_rows(TeamRow)] == [("remote_unavailable",)]
    add_facts(session, connect_fact())
    assert (row_of(session).connection, row_of(session).degraded) == ("idle", ())
    assert [row.degraded for row in session.table.list_rows(TeamRow)] == [()]


def test_a_remote_agent_that_disconnects_after_its_task_is_not_degraded():
    """SUB-05: no result is missing."""
    session = connected_session(remote_task_fact("completed"), ENDS, GONE)
    row = row_of(session)
    assert (row.state, row.connection, row.degraded) == ("idle", "disconnected", ())


def test_a_remote_agent_that_was_never_reached_is_unavailable():
    """SUB-05, UI-23"""
    failed = ModelFailed(code="remote_unavailable", message="no answer"), with_ids(run_scope(SCOUT, 1), step=1)
    session = add_facts(model_session(), scout_fact(), *run_facts(SCOUT, 1), failed)
    assert (row_of(session).connection, row_of(session).degraded) == ("disconnected", ("remote_unavailable",))


def test_only_the_newest_remote_artifacts_remain_complete():
    """UI-23: the roster stays small for any number of artifacts."""
    session = connected_session(*(remote_artifact_fact(f"a{number}") for number in range(60)))
    assert [artifact.name for artifact in work_of(session).artifacts] == [f"a{number}" for number in range(10, 60)]
    large = (RemotePart(media="text/plain", text=Text(text="x" * 8_000)),)
    for number in range(20):
        fact = RemoteArtifact(remote_task_id="rmt_1", remote_artifact_id=f"l{number}", parts=large)
        session.add(fact, run_scope(SCOUT, 1))
    complete = [bool(artifact.parts) for artifact in work_of(session).artifacts]
    assert (len(complete), sum(complete), complete[-8:]) == (50, 8, [True] * 8)


def test_a_handoff_to_a_remote_agent_makes_the_topology_remote():
    """UI-18"""
    session = add_facts(team_session(), scout_fact())
    assert [row.topology for row in session.table.list_rows(TeamRow)] == ["coordinator_team"]
    add_facts(session, scout_handoff_fact())
    assert [row.topology for row in session.table.list_rows(TeamRow)] == ["remote_teammate"]
