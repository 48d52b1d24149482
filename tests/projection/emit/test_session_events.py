"""Agent UI events of a session, with context from other facts."""

from __future__ import annotations

from typing import Any

from callboard.contracts.facts.task import TaskPaused
from callboard.projection.emit.agentui.events import AgentUiEvent, build_agent_ui_events
from callboard.projection.emit.agentui.session_events import AgentUiEvents
from tests.projection.histories import random_history
from tests.projection.session_builder import SessionBuilder, model_session
from tests.projection.team.scenarios import (
    CARD_URL,
    SCOUT,
    WATCH,
    WATCHER,
    action_fact,
    background_session,
    queue_session,
    remote_session,
    retry_session,
    run_facts,
    run_scope,
    scout_fact,
    sleep_facts,
    wake_facts,
    watcher_facts,
)
from tests.projection.team.worker_team import add_facts, conformance_session


def events(session: SessionBuilder) -> list[AgentUiEvent]:
    emit = AgentUiEvents()
    return [event for record in session.records() for event in emit.apply(record)]


def entity_events(session: SessionBuilder, entity: str) -> list[AgentUiEvent]:
    return [event for event in events(session) if event.payload.get("runtimeEntity") == entity]


def test_a_sleeping_agent_is_an_automation_job_in_each_of_its_states():
    """UI-22: with its task and its agent, whichever fact changed its state."""
    emitted = entity_events(background_session(), "automation_job")
    states = [event.payload["status"] for event in emitted if event.type == "agent.changed"]
    assert list(dict.fromkeys(states)) == [
        *("scheduled", "waking", "running", "blocked", "sleeping", "paused", "failed", "completed")
    ]
    assert {event.task_id for event in emitted} == {WATCH.task}
    assert {event.surface for event in emitted} == {"background_teammate"}


def test_a_job_shows_its_wake_reason_and_its_last_run():
    """UI-22"""
    session = add_facts(model_session(), *watcher_facts(), *wake_facts(1), *sleep_facts(1))
    last = entity_events(session, "automation_job")[-1]
    wanted: dict[str, Any] = {
        "status": "sleeping",
        "runtimeStatus": "idle",
        "schedule": "every 1800 s",
        "wakeReason": "schedule",
        "lastRunRef": run_scope(WATCHER, 1).run,
        "lastRunStatus": "completed",
    }
    assert {name: last.payload.get(name) for name in wanted} == wanted
    session.add(TaskPaused(reason="lunch"), WATCH)
    paused = [event for event in events(session) if event.raw_event_ref == f"ses_1/{session.log.sequence}"]
    assert [(event.type, event.payload["status"], event.phase) for event in paused] == [
        ("task.changed", "paused", "waiting"),
        ("agent.changed", "paused", "waiting"),
    ]


def test_events_of_a_remote_agent_have_its_card_its_task_and_its_needs():
    """UI-23: also where it asks a person."""
    emitted = entity_events(remote_session(), "external_task")
    assert {event.payload["agentCardRef"] for event in emitted} == {CARD_URL}
    (asks,) = [event for event in emitted if event.type == "action.required"]
    assert (asks.payload["remoteTaskId"], asks.payload["inputRequired"], asks.payload["authRequired"]) == (
        "rmt_1",
        True,
        False,
    )
    assert {event.type for event in emitted} == {
        "agent.changed",
        "task.changed",
        "artifact.changed",
        "action.required",
    }


def test_the_start_of_a_queued_turn_changes_the_queue():
    """UI-11, MAR-13"""
    emitted = [event.payload["status"] for event in events(queue_session()) if event.type == "queue.changed"]
    assert emitted[-2:] == ["queued", "started"]


def test_each_attempt_has_its_own_id():
    """CTL-07"""
    started = [
        event for event in events(retry_session()) if event.type == "task.changed" and "attemptId" in event.payload
    ]
    assert list(dict.fromkeys(event.payload["attemptId"] for event in started)) == ["tsk_c.1", "tsk_c.2"]


def test_events_stay_the_same_without_sleeping_or_remote_agents():
    """UI-34: the events of a fact are a function of the fact alone."""
    emit = AgentUiEvents()
    records = random_history(3, moves=300).records
    alone = [event for record in records for event in build_agent_ui_events(record)]
    emitted = [event for record in records for event in emit.apply(record)]
    waits = [event for event in emitted if event.payload.get("status") == "started"]
    assert [event for event in emitted if event not in waits] == alone
    assert [event.type for event in events(conformance_session()) if event.type == "agent.completed"] == [
        "agent.completed"
    ]


def test_a_question_of_a_remote_agent_without_a_task_names_no_task():
    """UI-23, UI-26: for example the question whether Callboard may contact it."""
    session = add_facts(
        model_session(),
        scout_fact(),
        *run_facts(SCOUT, 1),
        action_fact("tool_approval", run_scope(SCOUT, 1), "approve"),
    )
    (asked_for,) = [event for event in entity_events(session, "external_task") if event.type == "action.required"]
    assert asked_for.payload["agentCardRef"] == CARD_URL
    assert not {"remoteTaskId", "status", "inputRequired"} & set(asked_for.payload)
