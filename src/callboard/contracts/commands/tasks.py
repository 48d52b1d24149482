"""Commands that work on the tasks of a session's board (Control plane specification, Tasks)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from ..entities.team import AgentName, Ref, TaskEntity, TaskStatus
from .base import LARGEST, Answer, Command, command
from .team import TaskChanged
from .turns import Id, Reason

Counters = Annotated[
    dict[Annotated[str, Meta(max_length=64)], Annotated[int, Meta(ge=-LARGEST, le=LARGEST)]], Meta(max_length=32)
]


class _OnTask(Command, frozen=True, kw_only=True):
    session_id: Id
    task_id: Id
    reason: Reason = ""


@command("start_task", TaskChanged)
class StartTask(_OnTask, frozen=True, kw_only=True):
    """Start the first attempt of a task.

    Its agent gets a turn, a child is created for it, or a person works on it. `assignee` defaults to the task's
    assignee.
    """

    assignee: AgentName | None = None


@command("pause_task", TaskChanged)
class PauseTask(_OnTask, frozen=True, kw_only=True):
    """Stop the work on a task and its parts until it is resumed."""


@command("resume_task", TaskChanged)
class ResumeTask(_OnTask, frozen=True, kw_only=True):
    """Resume a paused task and its parts."""


@command("cancel_task", TaskChanged)
class CancelTask(_OnTask, frozen=True, kw_only=True):
    """Cancel a task, its parts and the agents at work on them.

    Finished parts stay finished.
    """


@command("retry_task", TaskChanged)
class RetryTask(_OnTask, frozen=True, kw_only=True):
    """Start another attempt of a task whose newest attempt failed or was cancelled.

    Former attempts stay unchanged.
    """

    assignee: AgentName | None = None


@command("append_task_progress", TaskChanged)
class AppendTaskProgress(_OnTask, frozen=True, kw_only=True):
    """Report progress of a task: a phase, counters, a summary, refs to outputs."""

    phase: Annotated[str, Meta(max_length=200)] | None = None
    counters: Counters | None = None
    progress: Annotated[str, Meta(max_length=20_000)] | None = None
    refs: tuple[Ref, ...] | None = None


@command("complete_task", TaskChanged)
class CompleteTask(_OnTask, frozen=True, kw_only=True):
    """Record that a task is done, with its deliverables."""

    summary: Annotated[str, Meta(max_length=20_000)] = ""
    refs: tuple[Ref, ...] = ()


@command("fail_task", TaskChanged)
class FailTask(_OnTask, frozen=True, kw_only=True):
    """Record that the newest attempt of a task failed.

    Another attempt can be started.
    """

    code: Annotated[str, Meta(min_length=1, max_length=64)] = "reported"
    message: Annotated[str, Meta(min_length=1, max_length=20_000)]


@command("link_tasks", TaskChanged)
class LinkTasks(_OnTask, frozen=True, kw_only=True):
    """Make a task part of another task, depend on other tasks, or refer to things."""

    parent_task: Id | None = None
    depends_on: tuple[Id, ...] = ()
    refs: tuple[Ref, ...] = ()


@command("unlink_tasks", TaskChanged)
class UnlinkTasks(_OnTask, frozen=True, kw_only=True):
    """Remove links of a task.

    `parent` removes the link to the task that it is part of.
    """

    parent: bool = False
    depends_on: tuple[Id, ...] = ()
    refs: tuple[Ref, ...] = ()


class TaskList(Answer, frozen=True, kw_only=True):
    session_id: str
    tasks: tuple[TaskInList, ...]
    sequence: int


@command("list_tasks", TaskList, authority="anyone", query=True)
class ListTasks(Command, frozen=True, kw_only=True):
    """List the tasks of a session with their attempts, newest first."""

    session_id: Id
    status: TaskStatus | None = None


class TaskRead(Answer, frozen=True, kw_only=True):
    """`snapshot` is the session's `TaskSnapshot` (Subagents specification), as JSON, whole up to `sequence`."""

    session_id: str
    task: TaskInList
    snapshot: Any
    sequence: int


@command("get_task", TaskRead, authority="anyone", query=True)
class GetTask(Command, frozen=True, kw_only=True):
    """Read a task with its attempts, and the snapshot that restores the view of its agents."""

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


class MergeDone(Answer, frozen=True, kw_only=True):
    """`conflict` names the files in conflict: nothing was merged then."""

    session_id: str
    agent_id: str
    status: Literal["merged", "nothing_to_merge", "conflict"]
    files: tuple[str, ...] = ()
    conflict: tuple[str, ...] = ()
    sequence: int


@command("merge_subagent", MergeDone)
class MergeSubagent(Command, frozen=True, kw_only=True):
    """Merge a child's worktree into its parent's folder, completely or not at all."""

    session_id: Id
    agent: AgentName
    reason: Reason = ""
