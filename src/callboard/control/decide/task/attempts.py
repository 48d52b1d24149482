"""Attempts of tasks: an agent gets a turn, a child is made or continued, a person starts to work."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from callboard.contracts.commands.subagent import SpawnArguments
from callboard.contracts.commands.task import RetryTask, StartTask, TaskChanged
from callboard.contracts.content import Text
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.queue import QueueAdded
from callboard.contracts.facts.session import ThreadResumed
from callboard.contracts.facts.subagent import SubagentContinued
from callboard.contracts.facts.task import TaskStarted
from callboard.contracts.facts.turn import TurnSubmitted
from callboard.contracts.scope import Scope

from ...batch import Batch, build_thread_scope
from ...state.session import Thread
from ...state.subagent import Child
from ...state.task import OpenTask
from ...state.turn import QueuedTurn
from ...task_status import build_task_answer, is_at_work, refuse_job_task, require_task
from ..agent.addressing import carry_mode, find_agent, join_session, require_agent, resolve_modes
from ..subagent.child_scope import ENDED, build_child_scope
from ..subagent.slots import start_or_wait
from ..subagent.spawn import BoardTask, spawn_child
from ..turn.queue_eligibility import find_startable
from ..turn.start import start_turn


class _Attempt(NamedTuple):
    """The attempt to begin, with the agent's instructions."""

    task: OpenTask
    number: int
    instructions: Text
    reason: str


def start_task(batch: Batch, request: StartTask) -> TaskChanged:
    """Begin the first attempt of a task.

    Raises:
        Refusal: `unknown_task`, `task_of_job`, `task_running`, `task_paused`; `task_not_ready` for
            one that waits or was begun; `unknown_agent`; `thread_busy` for a child; and the codes
            of `configure_run`.
    """
    task = _require_startable(batch, request.task_id)
    if task.attempt and task.entity != "automation_job":
        raise Refusal(
            "task_not_ready",
            f"The task {task.task} already has an attempt.",
            field="taskId",
            hint="Begin another attempt with retry_task.",
        )
    return _begin_attempt(batch, task, request.assignee, format_instructions(batch, task), request.reason)


def retry_task(batch: Batch, request: RetryTask) -> TaskChanged:
    """Begin another attempt of a task whose newest one ended without success.

    Raises:
        Refusal: `task_not_ready` for a task without an attempt, and the codes of `start_task`.
    """
    task = _require_startable(batch, request.task_id)
    if not task.attempt:
        raise Refusal(
            "task_not_ready",
            f"The task {task.task} has no attempt yet.",
            field="taskId",
            hint="Begin its first attempt with start_task.",
        )
    return _begin_attempt(
        batch, task, request.assignee, format_instructions(batch, task, is_retry=True), request.reason
    )


def retry_with_worker(batch: Batch, task: OpenTask, worker: Thread) -> None:
    """Begin another attempt of an item with the child that worked on it. If the child has received
    input since then, its turn is the attempt. Raises what `start_task` raises for a child."""
    child = worker.child
    if child is None or not worker.queue:
        _begin_attempt(batch, task, worker.agent, format_instructions(batch, task, is_retry=True), "")
        return
    scope = msgspec.structs.replace(
        build_child_scope(worker, child), turn=worker.queue[0].turn, attempt=task.attempt + 1
    )
    batch.add(TaskStarted(assignee=worker.agent), scope)
    if worker.paused is not None:
        batch.add(ThreadResumed(reason="another attempt of its task"), build_thread_scope(worker))
    start_or_wait(batch, worker.thread)


def _require_startable(batch: Batch, name: str) -> OpenTask:
    task = require_task(batch, name)
    refuse_job_task(task)
    if task.paused:
        raise Refusal("task_paused", "The task is paused.", field="taskId", hint="Resume it with resume_task.")
    if task.cancelling or is_at_work(batch.state, task):
        raise Refusal("task_running", f"The task {name} is running.", field="taskId", hint="Wait for it, or cancel it.")
    unmet = [task_id for task_id in task.depends_on if task_id not in task.done_dependencies]
    if unmet:
        ended = [task_id for task_id in unmet if task_id not in batch.state.tasks]
        raise Refusal(
            "task_not_ready",
            f"The task {name} waits for {', '.join(unmet)}.",
            field="taskId",
            hint=f"{', '.join(ended)} cannot be done any more. Remove the link with unlink_tasks." if ended else "",
        )
    return task


def format_instructions(batch: Batch, task: OpenTask, *, is_retry: bool = False) -> Text:
    """Return the agent's instructions. A large objective is returned as its blob, unchanged."""
    if task.objective.ref is not None:
        return task.objective
    job = batch.state.jobs.get(task.job)
    instructions = batch.state.tasks[job.task].objective.text.strip() if job is not None else ""
    objective = task.objective.text
    retry_note = (
        f"This is attempt {task.attempt + 1}. The attempt before it ended without success. Check what is already done."
    )
    title = task.title if not objective.startswith(task.title) and not task.job else ""
    acceptance = f"It is done when: {task.acceptance}" if task.acceptance else ""
    return batch.store_text(
        "\n\n".join(
            part for part in (retry_note if is_retry else "", title, instructions, objective, acceptance) if part
        )
    )


def _begin_attempt(batch: Batch, task: OpenTask, assignee: str | None, instructions: Text, reason: str) -> TaskChanged:
    attempt = _Attempt(task, task.attempt + 1, instructions, reason)
    name = assignee or task.assignee
    lead = batch.get_thread(batch.state.lead)
    thread = find_agent(batch.state, name) if name else lead
    if thread is None:
        definition = batch.inputs.find_definition(name)
        if definition is None:
            require_agent(batch.state, name, "assignee")
        elif definition.kind == "subagent":
            _assign_new_child(batch, attempt, lead, definition.name)
        else:
            thread = join_session(batch, definition, lead)
    if thread is not None:
        if thread.child is not None:
            _assign_child(batch, attempt, thread, thread.child)
        elif thread.kind == "human":
            batch.add(_build_task_started(attempt, thread.agent), _build_scope(attempt, thread))
        else:
            _assign_agent(batch, attempt, thread)
    return build_task_answer(batch, task.task)


def _assign_agent(batch: Batch, attempt: _Attempt, thread: Thread) -> None:
    """Give the agent a turn; a busy agent gets it in its queue."""
    modes = resolve_modes(batch, thread)
    turn = QueuedTurn(
        turn=batch.inputs.ids.new("turn"),
        mode=modes.mode,
        permission_mode=carry_mode(batch, thread, modes.permission_mode),
        task=attempt.task.task,
    )
    scope = _build_scope(attempt, thread, turn.turn)
    batch.add(_build_task_started(attempt, thread.agent), scope)
    batch.add(TurnSubmitted(input=attempt.instructions, mode=turn.mode, permission_mode=turn.permission_mode), scope)
    if thread.paused is not None and thread.run is None and not thread.queue:
        batch.add(ThreadResumed(reason="new input with an empty queue"), build_thread_scope(thread))
        thread = batch.get_thread(thread.thread)
    if thread.run is not None or thread.paused is not None or find_startable(batch.state, thread) is not None:
        batch.add(QueueAdded(position=len(thread.queue) + 1), build_thread_scope(thread, turn.turn))
    else:
        start_turn(batch, thread.thread, turn)


def _assign_child(batch: Batch, attempt: _Attempt, thread: Thread, child: Child) -> None:
    """Give the child a turn. A child works on one task at a time."""
    is_same_task = child.task == attempt.task.task
    if thread.run is not None or thread.queue or (child.status not in ENDED and not is_same_task):
        raise Refusal(
            "thread_busy",
            f"{thread.agent} works on another task.",
            field="assignee",
            hint="Name another agent, or wait for it.",
        )
    last = thread.last or resolve_modes(batch, thread)
    turn = batch.inputs.ids.new("turn")
    scope = msgspec.structs.replace(
        build_child_scope(thread, child), task=attempt.task.task, turn=turn, attempt=attempt.number
    )
    if child.status in ENDED:
        batch.add(SubagentContinued(), msgspec.structs.replace(scope, turn="", attempt=0))
    batch.add(_build_task_started(attempt, thread.agent), scope)
    mode = carry_mode(batch, thread, last.permission_mode)
    batch.add(TurnSubmitted(input=attempt.instructions, mode=last.mode, permission_mode=mode, source="agent"), scope)
    batch.add(QueueAdded(position=1), build_thread_scope(thread, turn))
    if thread.paused is not None:
        batch.add(ThreadResumed(reason="another attempt of its task"), build_thread_scope(thread))
    start_or_wait(batch, thread.thread)


def _assign_new_child(batch: Batch, attempt: _Attempt, lead: Thread, definition: str) -> None:
    """Make a child of the lead for this task."""
    task = attempt.task
    request = SpawnArguments(agent=definition, objective=task.title, title=task.title, reason=attempt.reason)
    spawn_child(batch, lead, request, BoardTask(task.task, attempt.number, attempt.instructions, attempt.reason))


def _build_task_started(attempt: _Attempt, assignee: str) -> TaskStarted:
    return TaskStarted(assignee=assignee, reason=attempt.reason)


def _build_scope(attempt: _Attempt, thread: Thread, turn: str = "") -> Scope:
    return Scope(agent=thread.agent, thread=thread.thread, turn=turn, task=attempt.task.task, attempt=attempt.number)
