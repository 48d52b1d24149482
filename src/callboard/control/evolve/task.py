"""Facts of tasks and their reviews."""

from __future__ import annotations

from typing import assert_never

from msgspec.structs import replace

from callboard.contracts.facts.task import (
    SnapshotUpdated,
    TaskCancelled,
    TaskCancelRequested,
    TaskCompleted,
    TaskCreated,
    TaskFact,
    TaskFailed,
    TaskPaused,
    TaskResumed,
    TaskStarted,
    TaskUpdated,
)

from ..state.session import Session, Thread
from ..state.task import OpenTask
from ..state.turn import TurnEnd
from .fact_context import FactContext, drop_entry
from .job import count_done_item, remove_job


def apply(state: Session, fact: TaskFact, context: FactContext) -> Session:
    task_id = context.scope.task
    match fact:
        case TaskCreated():
            return _create_task(state, fact, context)
        case TaskStarted():
            return _start_attempt(state, fact, context)
        case TaskUpdated():
            # None leaves a field as it is. The board's status is a label: attempts decide who works on the task.
            fields = ("title", "assignee", "depends_on", "refs", "parent_task")
            changes = {name: value for name in fields if (value := getattr(fact, name)) is not None}
            return _update(state, task_id, **changes)
        case TaskPaused():
            return _update(state, task_id, paused=True)
        case TaskResumed():
            return _update(state, task_id, paused=False)
        case TaskCancelRequested():
            return _update(state, task_id, cancelling=True, reason=fact.reason)
        case TaskCompleted():
            return _complete_task(state, task_id)
        case TaskFailed():
            # Only the attempt failed: the task can be retried.
            return _update(state, task_id, work="over")
        case TaskCancelled():
            return _remove_task(state, task_id)
        case SnapshotUpdated():
            return state
        case _:
            assert_never(fact)


def _create_task(state: Session, fact: TaskCreated, context: FactContext) -> Session:
    """Add a task. The task of a child or of an open turn is in its first attempt from the start."""
    scope = context.scope
    is_of_child, is_of_turn = bool(scope.parent_thread), bool(scope.turn) and not scope.parent_thread
    is_running = is_of_child or is_of_turn
    task = OpenTask(
        task=scope.task,
        title=fact.title,
        objective=fact.objective,
        acceptance=fact.acceptance,
        assignee=fact.assignee,
        parent_task=fact.parent_task,
        depends_on=fact.depends_on,
        entity=fact.entity,
        thread=scope.thread if is_running else "",
        turn=scope.turn if is_of_turn else "",
        run=scope.run if is_of_turn else "",
        attempt=1 if is_running else 0,
        work="running" if is_running else "",
        implied=is_of_turn,
        job=scope.job,
    )
    parent = state.tasks.get(fact.parent_task)
    tasks = {**state.tasks, task.task: task}
    if parent is not None and is_of_child and parent.thread == scope.parent_thread:
        tasks[parent.task] = replace(parent, delegated=True)
    return replace(state, tasks=tasks)


def _start_attempt(state: Session, fact: TaskStarted, context: FactContext) -> Session:
    scope = context.scope
    thread, task = state.threads.get(scope.thread), state.tasks.get(scope.task)
    if task is None:
        return state
    return _update(
        state,
        scope.task,
        assignee=fact.assignee,
        thread=scope.thread,
        turn="" if thread is not None and _is_child_of_task(thread, task) else scope.turn,
        run="",
        attempt=scope.attempt,
        work="running",
        ended=None,
        delegated=False,
        implied=False,
    )


def continue_attempt(state: Session, context: FactContext) -> Session:
    """Continue the attempt in the submitted turn. All turns of a child work on its task."""
    task, thread = state.tasks.get(context.scope.task), state.threads.get(context.scope.thread)
    if task is None or thread is None or _is_child_of_task(thread, task):
        return state
    return _update(state, task.task, turn=context.scope.turn, ended=None)


def start_task_run(state: Session, context: FactContext) -> Session:
    """Record the newest run that works on a task."""
    thread = state.threads.get(context.scope.thread)
    if thread is None:
        return state
    task = next((task for task in state.tasks.values() if _is_working_on(thread, task, context.scope.turn)), None)
    return state if task is None else _update(state, task.task, run=context.scope.run)


def end_task_turn(state: Session, end: TurnEnd, context: FactContext) -> Session:
    """Record with the task how its turn ended. A background agent's task stays open. If the host
    interrupted the turn of an agent that delegated parts, record that with the delegated task."""
    turn, thread = context.scope.turn, context.scope.thread
    task = next((task for task in state.tasks.values() if task.turn and task.turn == turn), None)
    if task is None and end.was_interrupted_by_host:
        delegated = (task for task in state.tasks.values() if task.delegated and task.thread == thread)
        task = next((task for task in delegated if task.work == "running" and task.entity != "automation_job"), None)
        return state if task is None else _update(state, task.task, ended=end, turn=turn)
    if task is None:
        return state
    if task.entity == "automation_job":
        return _update(state, task.task, work="" if end.how == "completed" else "over", ended=end, turn="")
    return _update(state, task.task, ended=end)


def _complete_task(state: Session, task_id: str) -> Session:
    """Remove the task, and count it as done for its job and for its dependants."""
    task = state.tasks.get(task_id)
    if task is not None and task.job:
        state = count_done_item(state, task.job)
    state = _remove_task(state, task_id)
    dependants = {
        other.task: replace(other, done_dependencies=(*other.done_dependencies, task_id))
        for other in state.tasks.values()
        if task_id in other.depends_on and task_id not in other.done_dependencies
    }
    return replace(state, tasks={**state.tasks, **dependants}) if dependants else state


def _remove_task(state: Session, task_id: str) -> Session:
    task = state.tasks.get(task_id)
    if task is not None and task.job:
        state = remove_job(state, task.job, task.task)
    return replace(state, tasks=drop_entry(state.tasks, task_id))


def _is_working_on(thread: Thread, task: OpenTask, turn: str) -> bool:
    background = thread.background
    if background is not None and background.task == task.task:
        return turn in (background.turn, task.turn)
    return _is_child_of_task(thread, task) or task.turn == turn


def _is_child_of_task(thread: Thread, task: OpenTask) -> bool:
    return thread.child is not None and thread.child.task == task.task


def _update(state: Session, task_id: str, **changes: object) -> Session:
    task = state.tasks.get(task_id)
    return state if task is None else replace(state, tasks={**state.tasks, task_id: replace(task, **changes)})
