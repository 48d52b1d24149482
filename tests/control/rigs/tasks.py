"""Commands of tasks, and a session with a task board."""

from __future__ import annotations

from typing import Any

from callboard.contracts.commands.task import (
    CancelTask,
    CreateTask,
    LinkTasks,
    PauseTask,
    ResumeTask,
    RetryTask,
    StartTask,
)
from callboard.contracts.facts.task import TaskStarted
from callboard.contracts.scope import Scope
from callboard.control.state.task import OpenTask
from tests.control.rigs.decisions import StepResult
from tests.control.rigs.examples import SESSION
from tests.control.rigs.team import LEAD, Team, agent_definition, team

HUMAN = agent_definition("owner", kind="human", policy=())
WORKER = agent_definition("worker", kind="subagent")
CRITIC = agent_definition("critic")


def board(*tasks: str, **fields: Any) -> Team:
    """Return a session with an idle lead and these open tasks."""
    session = team(LEAD, CRITIC, WORKER, HUMAN, **fields)
    session.responds("lead")
    for name in tasks:
        session.when(create(name))
    return session


def create(name: str, **fields: Any) -> CreateTask:
    return CreateTask(session_id=SESSION, task_id=name, **{"title": f"The {name}", **fields})


def start(name: str, **fields: Any) -> StartTask:
    return StartTask(session_id=SESSION, task_id=name, **fields)


def retry(name: str, **fields: Any) -> RetryTask:
    return RetryTask(session_id=SESSION, task_id=name, **fields)


def pause(name: str, **fields: Any) -> PauseTask:
    return PauseTask(session_id=SESSION, task_id=name, **fields)


def resume(name: str, **fields: Any) -> ResumeTask:
    return ResumeTask(session_id=SESSION, task_id=name, **fields)


def cancel(name: str, **fields: Any) -> CancelTask:
    return CancelTask(session_id=SESSION, task_id=name, **fields)


def link(name: str, **fields: Any) -> LinkTasks:
    return LinkTasks(session_id=SESSION, task_id=name, **fields)


def open_task(session: Team, name: str) -> OpenTask:
    return session.state.tasks[name]


def started_attempts(result: StepResult) -> list[tuple[TaskStarted, Scope]]:
    """Return the attempts that started, with their scopes."""
    return [(new.fact, new.scope) for new in result.decision.facts if isinstance(new.fact, TaskStarted)]
