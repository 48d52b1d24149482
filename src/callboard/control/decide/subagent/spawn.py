"""Spawns of children (Control plane specification, spawn_subagent)."""

from __future__ import annotations

from typing import Literal, NamedTuple

import msgspec

from callboard.contracts.commands.subagent import ChildSpawned, SpawnArguments
from callboard.contracts.content import Text
from callboard.contracts.entities.team import Isolation, QueueReason
from callboard.contracts.facts.exchange.channel import ChannelOpened
from callboard.contracts.facts.queue import QueueAdded
from callboard.contracts.facts.subagent import SubagentSpawned
from callboard.contracts.facts.task import TaskCreated, TaskStarted
from callboard.contracts.facts.turn import TurnSubmitted
from callboard.contracts.ports.agents import Definition
from callboard.contracts.scope import Scope

from ...batch import Batch
from ...decision_inputs import limit_carried_mode, narrow_mode
from ...input_text import make_title
from ...state.job import OpenJob
from ...state.session import Thread
from ...state.subagent import Child
from ...state.turn import OpenRun
from ..agent.addressing import build_thread_opened, find_agent, require_delegate, require_subagent, resolve_modes
from ..turn.queue_eligibility import find_startable
from ..turn.sleep import choose_work_mode
from .slots import Slots, enqueue, start_child


class BoardTask(NamedTuple):
    """A task of the board that a child is made for: its attempt, the child's instructions, and the
    reason. `job` is set for an item of a job: a person then gives the work, so the parent's policy
    and mode do not apply."""

    task: str
    attempt: int
    instructions: Text
    reason: str
    job: OpenJob | None = None


def spawn_child(batch: Batch, parent: Thread, request: SpawnArguments, board: BoardTask | None = None) -> ChildSpawned:
    """Give the parent a child, which starts immediately or waits for a slot. It has its own task, or
    the one of the board.

    Raises:
        Refusal: `subagent_spawns`, `policy_denied`, `delegate_target_denied`, `unknown_agent`, and
            the codes of `configure_run`.
    """
    job = board.job if board is not None else None
    definition = (
        require_subagent(batch, request.agent) if job is not None else require_delegate(batch, parent, request.agent)
    )
    modes = resolve_modes(batch, parent)
    mode = choose_work_mode(definition)
    widest = modes.permission_mode if job is None else job.permission_mode
    if job is not None and not job.chosen:
        widest = limit_carried_mode(batch.inputs, widest)
    permission = narrow_mode(narrow_mode(widest, definition.permission_mode), request.permission_mode)
    isolation = _choose_isolation(definition, request)
    if isolation == "read_only":
        permission = narrow_mode(permission, "ask")
    config = batch.inputs.configure_run(definition.name, mode, permission)
    group = config.candidates[config.chosen].provider
    thread, task = _join_child(batch, parent, definition, request, board)
    turn = batch.inputs.ids.new("turn")
    scope = Scope(
        agent=thread.agent, thread=thread.thread, turn=turn, task=task, job=job.job if job is not None else ""
    )
    instructions = batch.store_text(request.objective) if board is None else board.instructions
    if board is not None:
        scope = msgspec.structs.replace(scope, attempt=board.attempt)
        batch.add(TaskStarted(assignee=thread.agent, reason=board.reason), _with_parent(scope, thread))
    batch.add(TurnSubmitted(input=instructions, mode=mode, permission_mode=permission, source="agent"), scope)
    batch.add(QueueAdded(position=1), scope)
    joined = batch.get_thread(thread.thread)
    if joined.child is None:
        raise LookupError(f"{thread.agent} is not a child")
    status: Literal["running", "queued"] = "queued"
    reason = "worktree" if isolation == "worktree" else _find_wait_reason(batch, joined.child, group)
    if reason is None:
        start_child(batch, thread.thread, group)
        status = "running"
    else:
        enqueue(batch, thread.thread, reason, group)
    batch.add(
        ChannelOpened(
            participants=(parent.agent, thread.agent), subject=request.title or make_title(request.objective)
        ),
        Scope(
            agent=parent.agent,
            thread=parent.thread,
            run=parent.run.run if parent.run is not None else "",
            task=task,
            channel=batch.inputs.ids.new("channel"),
        ),
    )
    return ChildSpawned(
        session_id=batch.state.session,
        agent_id=thread.agent,
        thread_id=thread.thread,
        task_id=task,
        status=status,
        queue_reason=reason or "" if status == "queued" else "",
        position=len(batch.state.waiting) if status == "queued" else 0,
        sequence=batch.state.sequence,
    )


def _find_wait_reason(batch: Batch, child: Child, group: str) -> QueueReason | None:
    """Return why the child waits: its slot is occupied, or an earlier child waits for it."""
    for waiting in batch.state.waiting:
        thread = batch.state.threads[waiting]
        first = thread.child
        if first is None or thread.paused is not None or find_startable(batch.state, thread) is None:
            continue
        if first.queue_reason == "parallel_budget" and first.parent == child.parent:
            return "parallel_budget"
        if first.queue_reason == "provider_budget" and first.group == group:
            return "provider_budget"
    return Slots(batch).find_wait_reason(child, group)


def _ensure_parent_task(batch: Batch, parent: Thread, request: SpawnArguments) -> str:
    """Return the task of the parent's turn, created with the first child. The child's task is part
    of it."""
    run = parent.run
    turn = run.turn if run is not None else ""
    for task in batch.state.tasks.values():
        if task.turn and task.turn == turn:
            return task.task
    if run is None:
        return ""
    task = batch.inputs.ids.new("task")
    scope = Scope(agent=parent.agent, thread=parent.thread, turn=turn, run=run.run, task=task)
    batch.add(TaskCreated(title=batch.state.title or make_title(request.objective), assignee=parent.agent), scope)
    return task


def _with_parent(scope: Scope, thread: Thread) -> Scope:
    child = thread.child
    if child is None:
        return scope
    return msgspec.structs.replace(scope, parent_thread=child.parent, parent_run=child.parent_run)


def _join_child(
    batch: Batch, parent: Thread, definition: Definition, request: SpawnArguments, board: BoardTask | None
) -> tuple[Thread, str]:
    parent_task = _ensure_parent_task(batch, parent, request) if board is None else ""
    agent, thread = _find_free_name(batch, definition), batch.inputs.ids.new("thread")
    task = batch.inputs.ids.new("task") if board is None else board.task
    run: OpenRun | None = parent.run
    job = board.job if board is not None else None
    scope = Scope(
        agent=agent,
        thread=thread,
        task=task,
        parent_thread=parent.thread,
        parent_run=run.run if run is not None and job is None else "",
        job=job.job if job is not None else "",
    )
    objective = batch.store_text(request.objective) if board is None else board.instructions
    if board is None:
        batch.add(
            TaskCreated(
                title=request.title or make_title(request.objective),
                objective=objective,
                assignee=agent,
                parent_task=parent_task,
            ),
            scope,
        )
    batch.add(build_thread_opened(definition, agent), scope)
    batch.add(
        SubagentSpawned(
            role=request.role or definition.role,
            objective=objective,
            isolation=_choose_isolation(definition, request),
            work_globs=request.work_globs or definition.work_globs,
            review=request.review,
            reason=request.reason,
        ),
        scope,
    )
    return batch.get_thread(thread), task


def _choose_isolation(definition: Definition, request: SpawnArguments) -> Isolation:
    """Return the requested isolation, or the definition's. A read-only definition stays
    read-only."""
    if definition.isolation == "read_only":
        return "read_only"
    return request.isolation or definition.isolation


def _find_free_name(batch: Batch, definition: Definition) -> str:
    """Return an unused agent id for the child."""
    number = batch.state.name_counts.get(definition.name, 0) + 1
    while True:
        name = f"{definition.name}-{number}"
        if find_agent(batch.state, name) is None and batch.inputs.find_definition(name) is None:
            return name
        number += 1
