"""Commands that work on the tasks of a session's board (Control plane specification, Tasks)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from ..entities.team import AgentName, Ref, TaskEntity, TaskStatus
from .base import LARGEST, Answer, Command
from .team import TaskChanged
from .turns import Id, Reason

Counters = Annotated[
    dict[Annotated[str, Meta(max_length=64)], Annotated[int, Meta(ge=-LARGEST, le=LARGEST)]], Meta(max_length=32)
]


class _OnTask(Command, frozen=True, kw_only=True):
    session_id: Id
    task_id: Id
    reason: Reason = ""


class StartTask(_OnTask, frozen=True, kw_only=True):
    """Let an agent work on a task: its first attempt. `assignee` is the task's own where it is left out."""

    assignee: AgentName | None = None


class PauseTask(_OnTask, frozen=True, kw_only=True):
    """Stop the work on a task until it is resumed. What was done stays."""


class ResumeTask(_OnTask, frozen=True, kw_only=True):
    """Let a paused task go on."""


class CancelTask(_OnTask, frozen=True, kw_only=True):
    """Cancel a task, its parts and what works on them. Parts that ended stay as they are."""


class RetryTask(_OnTask, frozen=True, kw_only=True):
    """Begin another attempt of a task whose newest attempt ended without success. The former attempt stays as it was."""

    assignee: AgentName | None = None


class AppendTaskProgress(_OnTask, frozen=True, kw_only=True):
    """Tell how far a task is: a phase, counters, a summary, refs to what there is."""

    phase: Annotated[str, Meta(max_length=200)] | None = None
    counters: Counters | None = None
    progress: Annotated[str, Meta(max_length=20_000)] | None = None
    refs: tuple[Ref, ...] | None = None


class CompleteTask(_OnTask, frozen=True, kw_only=True):
    """Record that a task is done, with what was delivered."""

    summary: Annotated[str, Meta(max_length=20_000)] = ""
    refs: tuple[Ref, ...] = ()


class FailTask(_OnTask, frozen=True, kw_only=True):
    """Record that the newest attempt of a task failed; another can be made."""

    code: Annotated[str, Meta(min_length=1, max_length=64)] = "reported"
    message: Annotated[str, Meta(min_length=1, max_length=20_000)]


class LinkTasks(_OnTask, frozen=True, kw_only=True):
    """Make a task wait for others, a part of another, or point to things."""

    parent_task: Id | None = None
    depends_on: tuple[Id, ...] = ()
    refs: tuple[Ref, ...] = ()


class UnlinkTasks(_OnTask, frozen=True, kw_only=True):
    """Take such links away. `parent` says that the task is a part of no other."""

    parent: bool = False
    depends_on: tuple[Id, ...] = ()
    refs: tuple[Ref, ...] = ()


class ListTasks(Command, frozen=True, kw_only=True):
    """The tasks of a session, newest first."""

    session_id: Id
    status: TaskStatus | None = None


class GetTask(Command, frozen=True, kw_only=True):
    """One task with its attempts, and what can be read of the agents that work on it."""

    session_id: Id
    task_id: Id


class TaskAttempt(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One execution of a task. `number` counts from 1; times are in microseconds since the Unix epoch, 0 for none."""

    number: int
    run_id: str
    agent_id: str
    status: str
    detail: str = ""
    started: int = 0
    ended: int = 0


class TaskInList(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A task as a list tells it. `job` names the job that it is an item of, or that it is."""

    task_id: str
    title: str
    status: TaskStatus
    entity: TaskEntity
    paused: bool
    assignee: str
    parent_task: str
    depends_on: tuple[str, ...]
    blocker: str
    attempts: tuple[TaskAttempt, ...]
    job: str = ""


class TaskList(Answer, frozen=True, kw_only=True):
    session_id: str
    tasks: tuple[TaskInList, ...]
    sequence: int


class TaskRead(Answer, frozen=True, kw_only=True):
    """`snapshot` is the session's `TaskSnapshot` (Subagents specification), as JSON, whole up to `sequence`."""

    session_id: str
    task: TaskInList
    snapshot: Any
    sequence: int


class MergeSubagent(Command, frozen=True, kw_only=True):
    """Merge what a child did in its worktree into its parent's folder: all of it, or nothing."""

    session_id: Id
    agent: AgentName
    reason: Reason = ""


class MergeDone(Answer, frozen=True, kw_only=True):
    """`conflict` names the files in conflict: nothing was merged then."""

    session_id: str
    agent_id: str
    status: Literal["merged", "nothing_to_merge", "conflict"]
    files: tuple[str, ...] = ()
    conflict: tuple[str, ...] = ()
    sequence: int


__all__ = [
    "AppendTaskProgress",
    "CancelTask",
    "CompleteTask",
    "FailTask",
    "GetTask",
    "LinkTasks",
    "ListTasks",
    "MergeDone",
    "MergeSubagent",
    "PauseTask",
    "ResumeTask",
    "RetryTask",
    "StartTask",
    "TaskAttempt",
    "TaskChanged",
    "TaskInList",
    "TaskList",
    "TaskRead",
    "UnlinkTasks",
]
