"""Tasks of a board, and what a person asks of them."""

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
from callboard.control.state.team import OpenTask
from tests.control.rigs.examples import SESSION
from tests.control.rigs.team import LEAD, Team, Then, agent, team

HUMAN = agent("owner", kind="human", policy=())
WORKER = agent("worker", kind="subagent")
CRITIC = agent("critic")


def board(*tasks: str, **rest: Any) -> Team:
    """A lead that has answered, and these open tasks."""
    given = team(LEAD, CRITIC, WORKER, HUMAN, **rest)
    given.says("lead")
    for name in tasks:
        given.when(create(name))
    return given


def create(name: str, **rest: Any) -> CreateTask:
    return CreateTask(session_id=SESSION, task_id=name, **{"title": f"The {name}", **rest})


def start(name: str, **rest: Any) -> StartTask:
    return StartTask(session_id=SESSION, task_id=name, **rest)


def retry(name: str, **rest: Any) -> RetryTask:
    return RetryTask(session_id=SESSION, task_id=name, **rest)


def pause(name: str, **rest: Any) -> PauseTask:
    return PauseTask(session_id=SESSION, task_id=name, **rest)


def resume(name: str, **rest: Any) -> ResumeTask:
    return ResumeTask(session_id=SESSION, task_id=name, **rest)


def cancel(name: str, **rest: Any) -> CancelTask:
    return CancelTask(session_id=SESSION, task_id=name, **rest)


def link(name: str, **rest: Any) -> LinkTasks:
    return LinkTasks(session_id=SESSION, task_id=name, **rest)


def task(given: Team, name: str) -> OpenTask:
    return given.state.tasks[name]


def attempts(then: Then) -> list[tuple[TaskStarted, Scope]]:
    """The attempts that began, with their scopes."""
    return [(new.fact, new.scope) for new in then.decision.facts if isinstance(new.fact, TaskStarted)]
