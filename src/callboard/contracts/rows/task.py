"""Rows of tasks."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from ..content import Text
from ..entities.team import (
    Ref,
    TaskEntity,
    TaskStatus,
)
from ..facts.task import Priority
from .base import Row
from .run import RunStatus


class Comment(msgspec.Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """A comment on a task. `by` is an agent, empty for a person."""

    at: int
    by: str
    text: str


class AttemptRow(msgspec.Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """An attempt of a task.

    `number` counts from 1. Times are in microseconds since the epoch. `run_id` is its newest run,
    empty for none.
    """

    run_id: str
    status: RunStatus
    detail: str = ""
    number: int = 0
    agent_id: str = ""
    started: int = 0
    ended: int = 0


class JobItems(msgspec.Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """Number of a job's items by state. Paused items are `waiting`; items that wait for a person are `running`."""

    waiting: int = 0
    running: int = 0
    failed: int = 0
    completed: int = 0
    cancelled: int = 0


class TaskRow(Row, tag="task", frozen=True, kw_only=True):
    """A card of the board; the key is the task's id.

    It has the newest fifty comments and the newest twenty attempts. A `paused` task shows as
    blocked; a `cancelling` one is being stopped. `phase` and `counters` are the newest reports.
    `job` is the job that it is an item of, or the task of; then `items` counts its items.
    `plain_text`: its newest result was not finalized.
    """

    panel: ClassVar[str] = "tasks"
    title: str
    status: TaskStatus
    objective: Text = Text()
    assignee: str = ""
    parent_task: str = ""
    depends_on: tuple[str, ...] = ()
    priority: Priority = "normal"
    acceptance: str = ""
    blocker: str = ""
    progress: str = ""
    summary: str = ""
    plain_text: bool = False
    comments: tuple[Comment, ...] = ()
    attempts: tuple[AttemptRow, ...] = ()
    refs: tuple[Ref, ...] = ()
    entity: TaskEntity = "work_item"
    paused: bool = False
    cancelling: bool = False
    phase: str = ""
    counters: dict[str, int] = msgspec.field(default_factory=dict[str, int])
    job: str = ""
    items: JobItems | None = None
    created: int = 0
    ended: int = 0
