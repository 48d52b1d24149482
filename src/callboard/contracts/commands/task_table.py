"""The rows of the commands that work on tasks."""

from __future__ import annotations

from .base import Declaration
from .tasks import (
    AppendTaskProgress,
    CancelTask,
    CompleteTask,
    FailTask,
    GetTask,
    LinkTasks,
    ListTasks,
    PauseTask,
    ResumeTask,
    RetryTask,
    StartTask,
    TaskChanged,
    TaskList,
    TaskRead,
    UnlinkTasks,
)

TASK_TABLE: tuple[Declaration, ...] = (
    Declaration(
        name="list_tasks",
        command=ListTasks,
        answer=TaskList,
        serial="session",
        authority="anyone",
        query=True,
        summary="The tasks of a session with their attempts, newest first.",
    ),
    Declaration(
        name="get_task",
        command=GetTask,
        answer=TaskRead,
        serial="session",
        authority="anyone",
        query=True,
        summary="One task, and the snapshot from which a team can be shown again.",
    ),
    Declaration(
        name="start_task",
        command=StartTask,
        answer=TaskChanged,
        serial="session",
        summary="Begin the first attempt of a task: its agent gets a turn, a child is made for it, or a person has it in hand.",
    ),
    Declaration(
        name="retry_task",
        command=RetryTask,
        answer=TaskChanged,
        serial="session",
        summary="Begin another attempt of a task whose newest one ended without success; the former stays as it was.",
    ),
    Declaration(
        name="pause_task",
        command=PauseTask,
        answer=TaskChanged,
        serial="session",
        summary="Stop the work on a task and its parts until it is resumed.",
    ),
    Declaration(
        name="resume_task",
        command=ResumeTask,
        answer=TaskChanged,
        serial="session",
        summary="Let a paused task and its parts go on.",
    ),
    Declaration(
        name="cancel_task",
        command=CancelTask,
        answer=TaskChanged,
        serial="session",
        summary="Cancel a task, its parts and what works on them; what finished stays finished.",
    ),
    Declaration(
        name="append_task_progress",
        command=AppendTaskProgress,
        answer=TaskChanged,
        serial="session",
        summary="Tell how far a task is: a phase, counters, a summary, refs to outputs.",
    ),
    Declaration(
        name="complete_task",
        command=CompleteTask,
        answer=TaskChanged,
        serial="session",
        summary="Record that a task is done, with what was delivered.",
    ),
    Declaration(
        name="fail_task",
        command=FailTask,
        answer=TaskChanged,
        serial="session",
        summary="Record that the newest attempt of a task failed.",
    ),
    Declaration(
        name="link_tasks",
        command=LinkTasks,
        answer=TaskChanged,
        serial="session",
        summary="Make a task a part of another, wait for others, or point to things.",
    ),
    Declaration(
        name="unlink_tasks",
        command=UnlinkTasks,
        answer=TaskChanged,
        serial="session",
        summary="Take such links away.",
    ),
)
