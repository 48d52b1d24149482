"""What a person asks of the tasks of the board (Control plane specification, Tasks)."""

from __future__ import annotations

from typing import assert_never

from callboard.contracts.commands.tasks import (
    AppendTaskProgress,
    CancelTask,
    CompleteTask,
    FailTask,
    LinkTasks,
    PauseTask,
    ResumeTask,
    RetryTask,
    StartTask,
    UnlinkTasks,
)
from callboard.contracts.commands.team import CreateTask, TaskChanged, UpdateTask

from ...batch import Batch
from . import attempts, tasklinks, tasks, taskstops

TaskCommand = (
    CreateTask
    | UpdateTask
    | StartTask
    | RetryTask
    | PauseTask
    | ResumeTask
    | CancelTask
    | AppendTaskProgress
    | CompleteTask
    | FailTask
    | LinkTasks
    | UnlinkTasks
)


def answer(batch: Batch, request: TaskCommand) -> TaskChanged:
    """Carries the command out. Raises what its decider raises."""
    match request:
        case CreateTask():
            return tasks.create(batch, None, request, request.task_id)
        case UpdateTask():
            return tasks.update(batch, None, request)
        case StartTask():
            return attempts.start(batch, request)
        case RetryTask():
            return attempts.retry(batch, request)
        case PauseTask():
            return taskstops.pause(batch, request)
        case ResumeTask():
            return taskstops.resume(batch, request)
        case CancelTask():
            return taskstops.cancel(batch, None, request.task_id, request.reason)
        case AppendTaskProgress():
            return tasks.progress(batch, request)
        case CompleteTask():
            return tasks.complete(batch, request)
        case FailTask():
            return tasks.fail(batch, request)
        case LinkTasks():
            return tasklinks.link(batch, request)
        case UnlinkTasks():
            return tasklinks.unlink(batch, request)
        case _:
            assert_never(request)
