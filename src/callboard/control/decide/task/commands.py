"""Commands on tasks of the board (Control plane specification, Tasks)."""

from __future__ import annotations

from typing import assert_never

from callboard.contracts.commands.task import (
    AppendTaskProgress,
    CancelTask,
    CompleteTask,
    CreateTask,
    FailTask,
    LinkTasks,
    PauseTask,
    ResumeTask,
    RetryTask,
    StartTask,
    TaskChanged,
    UnlinkTasks,
    UpdateTask,
)

from ...batch import Batch
from . import attempts, board, control, links

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


def decide_task(batch: Batch, request: TaskCommand) -> TaskChanged:
    """Decide a command on a task. Raises what its decider raises."""
    match request:
        case CreateTask():
            return board.create_task(batch, None, request, request.task_id)
        case UpdateTask():
            return board.update_task(batch, None, request)
        case StartTask():
            return attempts.start_task(batch, request)
        case RetryTask():
            return attempts.retry_task(batch, request)
        case PauseTask():
            return control.pause_task(batch, request)
        case ResumeTask():
            return control.resume_task(batch, request)
        case CancelTask():
            return control.cancel_task(batch, None, request.task_id, request.reason)
        case AppendTaskProgress():
            return board.record_progress(batch, request)
        case CompleteTask():
            return board.complete_task(batch, request)
        case FailTask():
            return board.fail_task(batch, request)
        case LinkTasks():
            return links.link_tasks(batch, request)
        case UnlinkTasks():
            return links.unlink_tasks(batch, request)
        case _:
            assert_never(request)
