"""Tasks, agents and remote agents as events of Agent UI."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from callboard.contracts.entities.team import RemoteTaskState
from callboard.contracts.facts.agent import RemoteTaskChanged
from callboard.contracts.facts.base import Fact
from callboard.contracts.facts.session import AgentKind, ThreadOpened
from callboard.contracts.facts.task import TaskCreated, TaskPaused, TaskUpdated
from callboard.contracts.record import Header, Record
from callboard.contracts.rows.task import AttemptRow, TaskRow
from callboard.contracts.scope import Scope
from callboard.projection.emit.agentui.events import AgentUiEvent, build_agent_ui_events
from callboard.projection.emit.agentui.session_events import AgentUiEvents
from callboard.projection.emit.entities.task import build_job_payload
from tests.projection.team.scenarios import CARD_URL, background_session, remote_session
from tests.projection.team.worker_team import add_facts

PLACE = Scope(agent="scout", thread="thr_s", task="tsk_s")


def events(fact: Fact) -> tuple[AgentUiEvent, ...]:
    return build_agent_ui_events(Record("ses_1", 1, Header(type=fact.type, at=0, epoch=1, scope=PLACE), b"", fact))


@pytest.mark.parametrize(
    ("fact", "status", "phase"),
    [
        (TaskUpdated(status="running"), "running", "acting"),
        (TaskUpdated(status="reviewing"), "reviewing", "reviewing"),
        (TaskUpdated(status="blocked"), "blocked", "waiting"),
        (TaskUpdated(status="done", comment="It is."), "done", "acting"),
        (TaskUpdated(assignee="scout"), "assigned", "acting"),
        (TaskUpdated(assignee="scout", comment="For you."), "commented", "acting"),
        (TaskUpdated(title="The map"), "open", "acting"),
    ],
)
def test_a_task_event_names_the_change(fact: TaskUpdated, status: str, phase: str):
    """UI-21: a status comes before a remark, and a remark before an assignee."""
    (event,) = events(fact)

    assert (event.type, event.payload["status"], event.phase, event.surface) == (
        "task.changed",
        status,
        phase,
        "work_board",
    )


@pytest.mark.parametrize("state", get_args(RemoteTaskState))
def test_a_remote_task_needs_input_or_a_login_only_in_these_states(state: RemoteTaskState):
    """UI-23"""
    emitted = events(RemoteTaskChanged(remote_task_id="rmt_1", state=state))

    assert [event.type for event in emitted] == ["task.changed", "agent.changed"]
    for event in emitted:
        needs = {name: event.payload[name] for name in ("status", "inputRequired", "authRequired", "remoteTaskId")}
        assert needs == {
            "status": state,
            "inputRequired": state == "input_required",
            "authRequired": state == "auth_required",
            "remoteTaskId": "rmt_1",
        }


@pytest.mark.parametrize("kind", get_args(AgentKind))
def test_only_a_remote_agent_joins_as_an_external_task(kind: Any):
    """UI-23"""
    emitted = events(
        ThreadOpened(agent_name="scout", kind=kind, definition="scout", definition_hash="", url="http://127.0.0.1:1/")
    )

    joined = [event for event in emitted if event.payload.get("runtimeEntity") == "external_task"]
    assert [event.type for event in emitted][:1] == ["session.opened"]
    assert [event.payload["agentCardRef"] for event in joined] == (["http://127.0.0.1:1/"] if kind == "remote" else [])


@pytest.mark.parametrize(
    ("session", "entity", "surface"),
    [
        (remote_session, "external_task", "remote_teammate"),
        (background_session, "automation_job", "background_teammate"),
    ],
)
def test_the_task_of_an_agent_has_the_entity_of_its_agent(session: Any, entity: str, surface: str):
    """UI-22, UI-23: a task is an automation job or an external task, never both."""
    emit = AgentUiEvents()
    emitted = [event for record in session().records() for event in emit.apply(record)]

    tasks = {(event.payload.get("runtimeEntity"), event.surface) for event in emitted if event.type == "task.changed"}
    assert tasks - {("work_item", "work_board")} == {(entity, surface)}


def test_a_board_task_of_a_remote_agent_is_an_external_task():
    """UI-23: with the agent's card, and never as a job."""
    session, place = remote_session(), Scope(agent="scout", thread="thr_r", task="tsk_r")
    add_facts(session, (TaskCreated(title="Look there", entity="external_task", assignee="scout"), place))
    add_facts(session, (TaskPaused(reason="lunch"), place))
    emit = AgentUiEvents()

    paused = [event for record in session.records() for event in emit.apply(record)][-1]

    assert (paused.type, paused.surface, paused.payload["runtimeEntity"], paused.payload["agentCardRef"]) == (
        "task.changed",
        "remote_teammate",
        "external_task",
        CARD_URL,
    )


def test_a_job_names_its_newest_attempt():
    """UI-22"""
    tried = tuple(AttemptRow(run_id=f"run_{number}", number=number, status="failed") for number in (1, 2, 3))
    row = TaskRow(key="tsk_j", order=1, sequence=1, title="A job", status="blocked", job="job_1", attempts=tried)

    assert build_job_payload(row)["lastRunRef"] == "tsk_j.3"
