"""Tasks of the board: create, change, report progress, complete and fail."""

from __future__ import annotations

from callboard.contracts.commands.task import (
    AppendTaskProgress,
    CompleteTask,
    CreateTaskArguments,
    FailTask,
    TaskChanged,
    UpdateTaskArguments,
)
from callboard.contracts.entities.team import Ref
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.task import TaskCompleted, TaskCreated, TaskFailed, TaskUpdated
from callboard.contracts.scope import Scope

from ...batch import Batch
from ...state.session import Thread
from ...state.task import OpenTask
from ...task_status import (
    build_cycle_refusal,
    build_task_answer,
    check_may_end,
    list_prerequisites,
    refuse_job_task,
    require_task,
)
from .control import cancel_task


def create_task(
    batch: Batch, by: Thread | None, request: CreateTaskArguments, task_id: str | None = None
) -> TaskChanged:
    """Put a task on the board.

    Raises:
        Refusal: `unknown_task` for a parent or dependency that is not open; `task_id_used`;
            `invalid_input` for a cycle.
    """
    task = task_id or batch.inputs.ids.new("task")
    if task in batch.state.tasks or task in batch.inputs.closed_ids:
        raise Refusal(
            "task_id_used",
            f"The session already has a task {task}.",
            field="taskId",
            hint="Use another taskId, or leave it out.",
        )
    for name, field in (
        (request.parent_task, "parentTask"),
        *((dependency, "dependsOn") for dependency in request.depends_on),
    ):
        if name is not None:
            require_task(batch, name, field)
    for name in request.depends_on:
        # Only its parent waits for a new task.
        if request.parent_task == name or request.parent_task in list_prerequisites(batch.state, name):
            raise build_cycle_refusal(request.parent_task or "", name, "dependsOn")
    batch.add(
        TaskCreated(
            title=request.title,
            objective=batch.store_text(request.objective),
            assignee=request.assignee or "",
            parent_task=request.parent_task or "",
            depends_on=tuple(dict.fromkeys(request.depends_on)),
            priority=request.priority,
            acceptance=request.acceptance,
        ),
        # The scope has no turn: the task of a turn ends with that turn.
        Scope(agent=by.agent if by is not None else "", thread=by.thread if by is not None else "", task=task),
    )
    return build_task_answer(batch, task, "open")


def update_task(batch: Batch, by: Thread | None, request: UpdateTaskArguments) -> TaskChanged:
    """Change a task; `done` and `cancelled` end it.

    Raises:
        Refusal: `unknown_task`; for an agent also `not_your_child`, and `not_yours` for its own
            work under its parent's review.
    """
    task = require_task(batch, request.task_id)
    ends = request.status in ("done", "cancelled")
    if request.status not in (None, "cancelled") or request.assignee is not None or request.blocker is not None:
        refuse_job_task(task)
    if by is not None and ends:
        check_may_end(batch.state, by, task)
        if request.status == "done" and by.child is not None and by.child.review and by.child.task == task.task:
            raise Refusal(
                "not_yours",
                "Your parent must review this work first.",
                field="taskId",
                hint="Finish your turn: your parent receives your result and gives the verdict.",
            )
    if not ends or request.comment or request.progress:
        batch.add(
            TaskUpdated(
                status=None if ends else request.status,
                title=request.title,
                assignee=request.assignee,
                priority=request.priority,
                blocker=request.blocker,
                progress=request.progress,
                comment=request.comment,
                reason=request.reason,
            ),
            _build_actor_scope(by, task),
        )
    if request.status == "done":
        return _complete(batch, by, task, request.progress or request.reason, task.refs, request.reason)
    if request.status == "cancelled":
        return cancel_task(batch, by, task.task, request.reason)
    return build_task_answer(batch, task.task, request.status)


def record_progress(batch: Batch, request: AppendTaskProgress) -> TaskChanged:
    """Record the progress of a task, and add refs.

    Raises:
        Refusal: `unknown_task`, and `invalid_input` for an empty report.
    """
    task = require_task(batch, request.task_id)
    if request.phase is None and request.counters is None and request.progress is None and not request.refs:
        raise Refusal(
            "invalid_input",
            "The report is empty.",
            field="progress",
            hint="Give a phase, counters, a progress text or refs.",
        )
    batch.add(
        TaskUpdated(
            phase=request.phase,
            counters=request.counters,
            progress=request.progress,
            refs=merge_refs(task, request.refs) if request.refs else None,
            reason=request.reason,
        ),
        _build_actor_scope(None, task),
    )
    return build_task_answer(batch, task.task)


def complete_task(batch: Batch, request: CompleteTask) -> TaskChanged:
    """Record that a task is done, with its results. A run that still works on it continues without
    effect on the task.

    Raises:
        Refusal: `unknown_task`.
    """
    task = require_task(batch, request.task_id)
    refuse_job_task(task)
    return _complete(batch, None, task, request.summary, merge_refs(task, request.refs), request.reason)


def fail_task(batch: Batch, request: FailTask) -> TaskChanged:
    """Record that the newest attempt failed. The task can be retried once its run has ended.

    Raises:
        Refusal: `unknown_task`; `task_not_running` without a running attempt.
    """
    task = require_task(batch, request.task_id)
    refuse_job_task(task)
    if task.work != "running":
        raise Refusal(
            "task_not_running",
            f"The task {task.task} has no running attempt.",
            field="taskId",
            hint="Begin one with start_task or retry_task.",
        )
    batch.add(
        TaskFailed(code=request.code, message=request.message, reason=request.reason), _build_actor_scope(None, task)
    )
    return build_task_answer(batch, task.task)


def merge_refs(task: OpenTask, refs: tuple[Ref, ...]) -> tuple[Ref, ...]:
    """Return the task's refs and these, each once."""
    return tuple(dict.fromkeys((*task.refs, *refs)))


def _complete(
    batch: Batch, by: Thread | None, task: OpenTask, summary: str, refs: tuple[Ref, ...], reason: str
) -> TaskChanged:
    batch.add(TaskCompleted(summary=summary, refs=refs, reason=reason), _build_actor_scope(by, task))
    return build_task_answer(batch, task.task, "done")


def _build_actor_scope(by: Thread | None, task: OpenTask) -> Scope:
    run = by.run if by is not None else None
    return Scope(
        agent=by.agent if by is not None else "",
        thread=by.thread if by is not None else "",
        turn=run.turn if run is not None else "",
        run=run.run if run is not None else "",
        task=task.task,
        attempt=task.attempt,
    )
