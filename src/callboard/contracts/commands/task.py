"""Commands and tools that manage the tasks of a session (Control plane specification, Tasks)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from ..entities.team import AgentName, Ref, TaskEntity, TaskStatus
from ..facts.task import Priority
from .base import MAX_INTEGER, Answer, Command, Id, Reason, TeamToolArguments, Title, command

Counters = Annotated[
    dict[Annotated[str, Meta(max_length=64)], Annotated[int, Meta(ge=-MAX_INTEGER, le=MAX_INTEGER)]],
    Meta(max_length=32),
]


class CreateTaskArguments(TeamToolArguments, frozen=True, kw_only=True):
    """Create a task on the board."""

    title: Annotated[str, Meta(min_length=1, max_length=200)]
    objective: Annotated[str, Meta(max_length=200_000)] = ""
    assignee: AgentName | None = None
    parent_task: Id | None = None
    depends_on: tuple[Id, ...] = ()
    priority: Priority = "normal"
    acceptance: Annotated[str, Meta(max_length=20_000)] = ""


class TaskChanged(Answer, frozen=True, kw_only=True):
    """The task with its new status."""

    session_id: str
    task_id: str
    status: TaskStatus
    sequence: int


@command("create_task", TaskChanged)
class CreateTask(CreateTaskArguments, Command, frozen=True, kw_only=True):
    """Create a task on the session's board."""

    session_id: Id
    task_id: Id | None = None


class UpdateTaskArguments(TeamToolArguments, frozen=True, kw_only=True):
    """Change a task of the board. Omitted fields stay unchanged."""

    task_id: Id
    status: TaskStatus | None = None
    title: Title | None = None
    assignee: AgentName | None = None
    priority: Priority | None = None
    blocker: Annotated[str, Meta(max_length=2000)] | None = None
    progress: Annotated[str, Meta(max_length=20_000)] | None = None
    comment: Annotated[str, Meta(max_length=20_000)] | None = None
    reason: Reason = ""


@command("update_task", TaskChanged)
class UpdateTask(UpdateTaskArguments, Command, frozen=True, kw_only=True):
    """Change, comment on or end a task of the session's board."""

    session_id: Id


class _TaskCommand(Command, frozen=True, kw_only=True):
    session_id: Id
    task_id: Id
    reason: Reason = ""


@command("start_task", TaskChanged)
class StartTask(_TaskCommand, frozen=True, kw_only=True):
    """Start the first attempt of a task.

    Its agent gets a turn, a child is created for it, or a person works on it. `assignee` defaults to the task's
    assignee.
    """

    assignee: AgentName | None = None


@command("pause_task", TaskChanged)
class PauseTask(_TaskCommand, frozen=True, kw_only=True):
    """Stop the work on a task and its subtasks until it is resumed."""


@command("resume_task", TaskChanged)
class ResumeTask(_TaskCommand, frozen=True, kw_only=True):
    """Resume a paused task and its subtasks."""


@command("cancel_task", TaskChanged)
class CancelTask(_TaskCommand, frozen=True, kw_only=True):
    """Cancel a task, its subtasks and the agents that work on them.

    Finished subtasks stay finished.
    """


@command("retry_task", TaskChanged)
class RetryTask(_TaskCommand, frozen=True, kw_only=True):
    """Start another attempt of a task whose newest attempt failed or was cancelled.

    Former attempts stay unchanged.
    """

    assignee: AgentName | None = None


@command("append_task_progress", TaskChanged)
class AppendTaskProgress(_TaskCommand, frozen=True, kw_only=True):
    """Report progress of a task: a phase, counters, a summary, refs to outputs."""

    phase: Annotated[str, Meta(max_length=200)] | None = None
    counters: Counters | None = None
    progress: Annotated[str, Meta(max_length=20_000)] | None = None
    refs: tuple[Ref, ...] | None = None


@command("complete_task", TaskChanged)
class CompleteTask(_TaskCommand, frozen=True, kw_only=True):
    """Record that a task is done, with its deliverables."""

    summary: Annotated[str, Meta(max_length=20_000)] = ""
    refs: tuple[Ref, ...] = ()


@command("fail_task", TaskChanged)
class FailTask(_TaskCommand, frozen=True, kw_only=True):
    """Record that the newest attempt of a task failed.

    Another attempt can be started.
    """

    code: Annotated[str, Meta(min_length=1, max_length=64)] = "reported"
    message: Annotated[str, Meta(min_length=1, max_length=20_000)]


@command("link_tasks", TaskChanged)
class LinkTasks(_TaskCommand, frozen=True, kw_only=True):
    """Make a task a subtask of another task, let it depend on other tasks, or add references."""

    parent_task: Id | None = None
    depends_on: tuple[Id, ...] = ()
    refs: tuple[Ref, ...] = ()


@command("unlink_tasks", TaskChanged)
class UnlinkTasks(_TaskCommand, frozen=True, kw_only=True):
    """Remove links of a task.

    `parent` removes the link to the parent task.
    """

    parent: bool = False
    depends_on: tuple[Id, ...] = ()
    refs: tuple[Ref, ...] = ()


class TaskList(Answer, frozen=True, kw_only=True):
    """The tasks, newest first."""

    session_id: str
    tasks: tuple[TaskEntry, ...]
    sequence: int


@command("list_tasks", TaskList, authority="anyone", query=True)
class ListTasks(Command, frozen=True, kw_only=True):
    """List the tasks of a session with their attempts, newest first."""

    session_id: Id
    status: TaskStatus | None = None


class TaskRead(Answer, frozen=True, kw_only=True):
    """A task.

    `snapshot` is the session's `TaskSnapshot` as JSON, complete up to `sequence` (Subagents
    specification).
    """

    session_id: str
    task: TaskEntry
    snapshot: Any
    sequence: int


@command("get_task", TaskRead, authority="anyone", query=True)
class GetTask(Command, frozen=True, kw_only=True):
    """Read a task with its attempts, and the snapshot that restores the view of its agents."""

    session_id: Id
    task_id: Id


class TaskAttempt(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """An execution of a task.

    `number` counts from 1. Times are in microseconds since the epoch, 0 for none.
    """

    number: int
    run_id: str
    agent_id: str
    status: str
    detail: str = ""
    started: int = 0
    ended: int = 0


class TaskEntry(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A task in a list. `job` is the job that it is an item of, or the task of."""

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


class ChildMerged(Answer, frozen=True, kw_only=True):
    """The result of a merge. With files in `conflict` nothing was merged."""

    session_id: str
    agent_id: str
    status: Literal["merged", "nothing_to_merge", "conflict"]
    files: tuple[str, ...] = ()
    conflict: tuple[str, ...] = ()
    sequence: int


@command("merge_subagent", ChildMerged)
class MergeSubagent(Command, frozen=True, kw_only=True):
    """Merge a child's worktree into its parent's folder, completely or not at all."""

    session_id: Id
    agent: AgentName
    reason: Reason = ""
