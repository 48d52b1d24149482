"""Tasks: on the board, at work in an attempt, paused, being cancelled, over."""

from __future__ import annotations

from typing import assert_never

import msgspec

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
from ..state.team import OpenTask, TurnEnd
from .fact_context import FactContext
from .job import item_done, without_job

#: Interrupts that nobody asked for.
UNASKED = ("crash", "lost", "shutdown", "storage")


def apply(state: Session, fact: TaskFact, place: FactContext) -> Session:
    """Return the state after a fact."""
    match fact:
        case TaskCreated():
            return created(state, fact, place)
        case TaskStarted():
            return started(state, fact, place)
        case TaskUpdated():
            return updated(state, fact, place)
        case TaskPaused():
            return paused(state, place)
        case TaskResumed():
            return resumed(state, place)
        case TaskCancelRequested():
            return cancelling(state, fact, place)
        case TaskCompleted():
            return completed(state, place)
        case TaskFailed():
            return failed(state, place)
        case TaskCancelled():
            return over(state, place)
        case SnapshotUpdated():
            return state
        case _:
            assert_never(fact)


def created(state: Session, fact: TaskCreated, place: FactContext) -> Session:
    """A child's task, and the one of a turn that is under way, is at work from the beginning: in its first attempt."""
    scope = place.scope
    of_child, of_turn = bool(scope.parent_thread), bool(scope.turn) and not scope.parent_thread
    task = OpenTask(
        task=scope.task,
        title=fact.title,
        objective=fact.objective,
        acceptance=fact.acceptance,
        assignee=fact.assignee,
        parent_task=fact.parent_task,
        depends_on=fact.depends_on,
        entity=fact.entity,
        thread=scope.thread if of_child or of_turn else "",
        turn=scope.turn if of_turn else "",
        run=scope.run if of_turn else "",
        attempt=1 if of_child or of_turn else 0,
        work="running" if of_child or of_turn else "",
        implied=of_turn,
        job=scope.job,
    )
    whole = state.tasks.get(fact.parent_task)
    tasks = {**state.tasks, task.task: task}
    if whole is not None and of_child and whole.thread == scope.parent_thread:
        tasks[whole.task] = msgspec.structs.replace(whole, delegated=True)
    return msgspec.structs.replace(state, tasks=tasks)


def started(state: Session, fact: TaskStarted, place: FactContext) -> Session:
    """An attempt begins; what became of the former one is over."""
    scope = place.scope
    thread, task = state.threads.get(scope.thread), state.tasks.get(scope.task)
    if task is None:
        return state
    of_child = thread is not None and _is_its_child(thread, task)
    return _change(
        state,
        scope.task,
        assignee=fact.assignee,
        thread=scope.thread,
        turn="" if of_child else scope.turn,
        run="",
        attempt=scope.attempt,
        work="running",
        ended=None,
        delegated=False,
        implied=False,
    )


def goes_on(state: Session, place: FactContext) -> Session:
    """A turn was submitted for a task: the attempt goes on in it. A child's turns are all for its task."""
    task, thread = state.tasks.get(place.scope.task), state.threads.get(place.scope.thread)
    if task is None or thread is None or _is_its_child(thread, task):
        return state
    return _change(state, task.task, turn=place.scope.turn, ended=None)


def run_started(state: Session, place: FactContext) -> Session:
    """The newest run that works on a task."""
    thread = state.threads.get(place.scope.thread)
    if thread is None:
        return state
    task = next((one for one in state.tasks.values() if _works_on(thread, one, place.scope.turn)), None)
    return state if task is None else _change(state, task.task, run=place.scope.run)


def turn_ended(state: Session, end: TurnEnd, place: FactContext) -> Session:
    """How the attempt's turn ended stays with the task, whatever the agent does next. A job does not end with a turn. What an
    agent gave parts of away is cut with any turn of it that nobody asked to stop."""
    turn = place.scope.turn
    found = next((one for one in state.tasks.values() if one.turn and one.turn == turn), None)
    if found is None and end.how == "interrupted" and end.code in UNASKED:
        given = (one for one in state.tasks.values() if one.delegated and one.thread == place.scope.thread)
        found = next((one for one in given if one.work == "running" and one.entity != "automation_job"), None)
        return state if found is None else _change(state, found.task, ended=end, turn=turn)
    if found is None:
        return state
    if found.entity == "automation_job":
        return _change(state, found.task, work="" if end.how == "completed" else "over", ended=end, turn="")
    return _change(state, found.task, ended=end)


def updated(state: Session, fact: TaskUpdated, place: FactContext) -> Session:
    """Fields that are None stay as they were. The board's status is a label: who works on the task is told by its attempts."""
    named = ("title", "assignee", "depends_on", "refs", "parent_task")
    changes = {name: value for name in named if (value := getattr(fact, name)) is not None}
    return _change(state, place.scope.task, **changes)


def failed(state: Session, place: FactContext) -> Session:
    """The newest attempt ended without success; another can be made."""
    return _change(state, place.scope.task, work="over")


def paused(state: Session, place: FactContext) -> Session:
    return _change(state, place.scope.task, paused=True)


def resumed(state: Session, place: FactContext) -> Session:
    return _change(state, place.scope.task, paused=False)


def cancelling(state: Session, fact: TaskCancelRequested, place: FactContext) -> Session:
    return _change(state, place.scope.task, cancelling=True, reason=fact.reason)


def completed(state: Session, place: FactContext) -> Session:
    """What waited for it needs to wait for it no more."""
    done = place.scope.task
    task = state.tasks.get(done)
    if task is not None and task.job:
        state = item_done(state, task.job)
    state = over(state, place)
    waiting = [one for one in state.tasks.values() if done in one.depends_on and done not in one.done_dependencies]
    if not waiting:
        return state
    changed = {
        one.task: msgspec.structs.replace(one, done_dependencies=(*one.done_dependencies, done)) for one in waiting
    }
    return msgspec.structs.replace(state, tasks={**state.tasks, **changed})


def over(state: Session, place: FactContext) -> Session:
    """Deciders forget it."""
    task = state.tasks.get(place.scope.task)
    if task is not None and task.job:
        state = without_job(state, task.job, task.task)
    return msgspec.structs.replace(
        state, tasks={key: task for key, task in state.tasks.items() if key != place.scope.task}
    )


def _works_on(thread: Thread, task: OpenTask, turn: str) -> bool:
    background = thread.background
    if background is not None and background.task == task.task:
        return turn in (background.turn, task.turn)
    return _is_its_child(thread, task) or task.turn == turn


def _is_its_child(thread: Thread, task: OpenTask) -> bool:
    return thread.child is not None and thread.child.task == task.task


def _change(state: Session, name: str, **changes: object) -> Session:
    task = state.tasks.get(name)
    if task is None:
        return state
    return msgspec.structs.replace(state, tasks={**state.tasks, name: msgspec.structs.replace(task, **changes)})
