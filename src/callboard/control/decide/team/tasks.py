"""The board: tasks are made, changed and commented on; they end with the work that they stand for."""

from __future__ import annotations

from callboard.contracts.commands.team import ChangeTask, MakeTask, TaskChanged
from callboard.contracts.errors import Refusal
from callboard.contracts.facts import TaskCancelled, TaskCompleted, TaskCreated, TaskUpdated
from callboard.contracts.scope import Scope
from callboard.contracts.team import TaskStatus

from ...batch import Batch
from ...state import Thread


def create(batch: Batch, by: Thread | None, request: MakeTask, task_id: str | None = None) -> TaskChanged:
    """Puts a task on the board. Raises `unknown_task` for a parent or dependency that is not open, `task_id_used`."""
    task = task_id or batch.known.ids.new("task")
    if task in batch.state.tasks or task in batch.known.closed:
        raise Refusal("task_id_used", f"The session already has a task {task}.", field="taskId")
    for name, field in ((request.parent_task, "parentTask"), *((one, "dependsOn") for one in request.depends_on)):
        if name is not None:
            _open(batch, name, field)
    batch.say(
        TaskCreated(
            title=request.title,
            objective=batch.hold(request.objective),
            assignee=request.assignee or "",
            parent_task=request.parent_task or "",
            depends_on=request.depends_on,
            priority=request.priority,
            acceptance=request.acceptance,
        ),
        # Without the turn: a task that is named by one is that turn's own, and ends with it.
        Scope(agent=by.agent if by is not None else "", thread=by.thread if by is not None else "", task=task),
    )
    return _answer(batch, task, "open")


def update(batch: Batch, by: Thread | None, request: ChangeTask) -> TaskChanged:
    """Changes a task; `done` and `cancelled` end it. Raises `unknown_task`."""
    _open(batch, request.task_id, "taskId")
    scope = _scope(by, request.task_id)
    status: TaskStatus = request.status or "open"
    if request.status not in ("done", "cancelled") or request.comment or request.progress:
        batch.say(
            TaskUpdated(
                status=None if request.status in ("done", "cancelled") else request.status,
                title=request.title,
                assignee=request.assignee,
                priority=request.priority,
                blocker=request.blocker,
                progress=request.progress,
                comment=request.comment,
                reason=request.reason,
            ),
            scope,
        )
    if request.status == "done":
        batch.say(TaskCompleted(summary=request.progress or request.reason), scope)
    elif request.status == "cancelled":
        batch.say(TaskCancelled(reason=request.reason), scope)
    return _answer(batch, request.task_id, status)


def _open(batch: Batch, task: str, field: str) -> None:
    if task not in batch.state.tasks:
        ended = task in batch.known.closed
        raise Refusal(
            "unknown_task", f"The task {task} is over." if ended else f"There is no task {task}.", field=field
        )


def _scope(by: Thread | None, task: str) -> Scope:
    run = by.run if by is not None else None
    return Scope(
        agent=by.agent if by is not None else "",
        thread=by.thread if by is not None else "",
        turn=run.turn if run is not None else "",
        run=run.run if run is not None else "",
        task=task,
    )


def _answer(batch: Batch, task: str, status: TaskStatus) -> TaskChanged:
    return TaskChanged(session_id=batch.state.session, task_id=task, status=status, sequence=batch.state.sequence)
