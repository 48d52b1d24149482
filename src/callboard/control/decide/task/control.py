"""Pause, resume and cancel of tasks with their subtasks and workers. Facts record the intent before
its effect."""

from __future__ import annotations

import msgspec

from callboard.contracts.commands.task import PauseTask, ResumeTask, TaskChanged
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.queue import QueueAdded, QueuePromoted, QueueRemoved
from callboard.contracts.facts.session import ThreadResumed
from callboard.contracts.facts.task import TaskCancelRequested, TaskPaused, TaskResumed
from callboard.contracts.facts.turn import InterruptCause, TurnInterruptRequested, TurnSubmitted

from ...batch import Batch, build_run_scope, build_thread_scope
from ...state.session import Thread
from ...state.task import OpenTask
from ...state.turn import QueuedTurn
from ...task_status import (
    build_task_answer,
    build_task_scope,
    check_may_end,
    find_task_run,
    find_task_thread,
    find_task_worker,
    list_subtasks,
    require_task,
    was_stopped,
)
from ..agent.addressing import carry_mode, resolve_modes
from ..subagent import children
from ..subagent.child_scope import ENDED
from ..subagent.slots import start_or_wait
from ..turn.queue_eligibility import find_startable
from ..turn.start import start_turn

#: Input of an agent whose task was paused while it worked.
RESUME_INPUT = "You were paused. Check what is already done, then continue your task."


def cancel_task(batch: Batch, by: Thread | None, name: str, reason: str) -> TaskChanged:
    """Cancel a task and its open subtasks. Their workers are stopped, and the tasks end after them.

    Raises:
        Refusal: `unknown_task`; for an agent also `not_your_child`.
    """
    task = require_task(batch, name)
    if by is not None:
        check_may_end(batch.state, by, task)
    if task.cancelling:
        return build_task_answer(batch, name)
    # A cancelling task gets no new subtasks, so this list is complete.
    tasks = [task, *(subtask for subtask in list_subtasks(batch.state, name) if not subtask.cancelling)]
    for subtask in tasks:
        batch.add(TaskCancelRequested(reason=reason), build_task_scope(batch.state, subtask))
    for subtask in tasks:
        worker = find_task_worker(batch.state, subtask)
        if worker is not None and worker[1].status not in ENDED:
            children.stop_child(batch, *worker, "cancelled", reason or "its task was cancelled")
        elif worker is None:
            _stop_work(batch, subtask, "cancelled", reason or "the task was cancelled", remove=True)
    return build_task_answer(batch, name)


def pause_task(batch: Batch, request: PauseTask) -> TaskChanged:
    """Pause a task and its subtasks, and stop their workers. Their queued turns stay in the queues.

    Raises:
        Refusal: `unknown_task`, `task_paused`.
    """
    task = require_task(batch, request.task_id)
    if task.paused:
        raise Refusal("task_paused", "The task is already paused.", field="taskId", hint="Resume it with resume_task.")
    _check_not_cancelling(task)
    tasks = [
        task,
        *(
            subtask
            for subtask in list_subtasks(batch.state, task.task)
            if not subtask.paused and not subtask.cancelling
        ),
    ]
    for subtask in tasks:
        batch.add(TaskPaused(reason=request.reason), build_task_scope(batch.state, subtask))
    for subtask in tasks:
        _stop_work(batch, subtask, "person", f"the task was paused{f': {request.reason}' if request.reason else ''}")
    return build_task_answer(batch, task.task)


def resume_task(batch: Batch, request: ResumeTask) -> TaskChanged:
    """Resume a paused task and its subtasks. Each stopped worker gets a turn, within the budget.

    Raises:
        Refusal: `unknown_task`, `task_not_paused`.
    """
    task = require_task(batch, request.task_id)
    if not task.paused:
        raise Refusal(
            "task_not_paused",
            "The task is not paused.",
            field="taskId",
            hint="Resume only paused tasks: list_tasks shows the status of each.",
        )
    tasks = [task, *(subtask for subtask in list_subtasks(batch.state, task.task) if subtask.paused)]
    for subtask in tasks:
        batch.add(TaskResumed(reason=request.reason), build_task_scope(batch.state, subtask))
    for subtask in tasks:
        _continue_work(batch, subtask)
    return build_task_answer(batch, task.task)


def _check_not_cancelling(task: OpenTask) -> None:
    if task.cancelling:
        raise Refusal(
            "unknown_task",
            f"The task {task.task} is being cancelled.",
            field="taskId",
            hint="It ends when its work has stopped. Create a new task with create_task.",
        )


def _stop_work(batch: Batch, task: OpenTask, cause: InterruptCause, reason: str, *, remove: bool = False) -> None:
    thread = find_task_thread(batch.state, task)
    if thread is None:
        return
    for queued in thread.queue if remove else ():
        if queued.task == task.task:
            batch.add(QueueRemoved(reason=reason), build_thread_scope(thread, queued.turn))
    work = find_task_run(batch.state, task)
    if work is not None and not work[1].stopping:
        batch.add(TurnInterruptRequested(cause=cause, reason=reason), build_run_scope(*work))


def _continue_work(batch: Batch, task: OpenTask) -> None:
    """Continue the stopped attempt in another turn. A background agent continues with its schedule,
    and a task without an attempt waits for its start."""
    thread = batch.state.threads.get(task.thread)
    if thread is None or task.work != "running" or task.entity == "automation_job":
        return
    child = find_task_worker(batch.state, task)
    if not _was_interrupted(batch, thread, task) or (child is not None and thread.queue):
        if child is not None:
            if thread.paused is not None and thread.run is None and find_startable(batch.state, thread) is not None:
                batch.add(ThreadResumed(reason="its task was resumed"), build_thread_scope(thread))
            # Start a child's queued input; `follow` starts the queues of other agents.
            start_or_wait(batch, thread.thread)
        return
    modes = (thread.last if child is not None else None) or resolve_modes(batch, thread)
    turn = QueuedTurn(
        turn=batch.inputs.ids.new("turn"),
        mode=modes.mode,
        permission_mode=carry_mode(batch, thread, modes.permission_mode),
        task=task.task,
    )
    turn_scope = build_thread_scope(thread, turn.turn)
    scope = msgspec.structs.replace(build_task_scope(batch.state, task), turn=turn.turn, run="")
    submitted = TurnSubmitted(
        input=batch.store_text(RESUME_INPUT), mode=turn.mode, permission_mode=turn.permission_mode, resumes=True
    )
    batch.add(submitted, scope)
    if thread.paused is not None and thread.run is None:
        batch.add(ThreadResumed(reason="its task was resumed"), build_thread_scope(thread))
    if child is None and thread.run is None:
        start_turn(batch, thread.thread, turn)
        return
    batch.add(QueueAdded(position=len(thread.queue) + 1), turn_scope)
    if thread.queue:
        batch.add(QueuePromoted(reason="the interrupted work continues first"), turn_scope)
    start_or_wait(batch, thread.thread)


def _was_interrupted(batch: Batch, thread: Thread, task: OpenTask) -> bool:
    """Return True if a turn that worked on the task was interrupted or is stopping."""
    work = find_task_run(batch.state, task)
    if work is not None:
        return work[1].stopping
    if find_task_worker(batch.state, task) is not None or task.delegated:
        return was_stopped(thread)
    return task.ended is not None and task.ended.how == "interrupted"
