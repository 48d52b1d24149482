"""A child is given an objective (Control plane specification, spawn_subagent)."""

from __future__ import annotations

from typing import Literal

from callboard.contracts.commands.team import Spawn, Spawned
from callboard.contracts.facts import (
    ChannelOpened,
    QueueAdded,
    SubagentSpawned,
    TaskCreated,
    TurnSubmitted,
)
from callboard.contracts.facts.turn import Mode
from callboard.contracts.ports.agents import Definition
from callboard.contracts.scope import Scope
from callboard.contracts.team import QueueReason

from ...batch import Batch
from ...known import narrower
from ...state import Child, OpenRun, Thread
from .agents import agent_of, may_delegate, modes_of, opened
from .slots import Slots, enqueue, start_child

#: A title is the first line of the objective, cut at this many characters.
TITLE = 80


def spawn(batch: Batch, parent: Thread, request: Spawn) -> Spawned:
    """Gives the parent a child, which starts at once or waits for a slot.

    Raises `subagent_spawns`, `policy_denied`, `delegate_target_denied`, `unknown_agent`, and what the child's setup raises.
    """
    definition = may_delegate(batch, parent, request.agent)
    modes = modes_of(batch, parent)
    mode: Mode = "auto" if "Finalize" in definition.policy else "chat"
    permission = narrower(narrower(modes.permission_mode, definition.permission_mode), request.permission_mode)
    isolation = request.isolation or definition.isolation
    if isolation == "read_only":
        permission = narrower(permission, "ask")
    setup = batch.known.setup(definition.name, mode, permission)
    group = setup.candidates[setup.chosen].provider
    parent_task = _task_of(batch, parent, request)
    thread, child = _join(batch, parent, definition, request, parent_task)
    turn = batch.known.ids.new("turn")
    scope = Scope(agent=thread.agent, thread=thread.thread, turn=turn, task=child)
    batch.say(
        TurnSubmitted(input=batch.hold(request.objective), mode=mode, permission_mode=permission, source="agent"), scope
    )
    batch.say(QueueAdded(position=1), scope)
    found = batch.thread(thread.thread)
    if found.child is None:
        raise LookupError("a child was given and is none")
    status: Literal["running", "queued"] = "queued"
    reason = "worktree" if isolation == "worktree" else _reason(batch, found.child, group)
    if reason is None:
        start_child(batch, thread.thread, group)
        status = "running"
    else:
        enqueue(batch, thread.thread, reason, group)
    batch.say(
        ChannelOpened(participants=(parent.agent, thread.agent), subject=request.title or _title(request.objective)),
        Scope(
            agent=parent.agent,
            thread=parent.thread,
            run=parent.run.run if parent.run is not None else "",
            task=child,
            channel=batch.known.ids.new("channel"),
        ),
    )
    return Spawned(
        session_id=batch.state.session,
        agent_id=thread.agent,
        thread_id=thread.thread,
        task_id=child,
        status=status,
        queue_reason=reason or "" if status == "queued" else "",
        position=len(batch.state.waiting) if status == "queued" else 0,
        sequence=batch.state.sequence,
    )


def _reason(batch: Batch, child: Child, group: str) -> QueueReason | None:
    """Why the child waits: its slot is taken, or another one waits for it already."""
    for waiting in batch.state.waiting:
        thread = batch.state.threads[waiting]
        first = thread.child
        if first is None or thread.paused is not None:
            continue
        if first.queue_reason == "parallel_budget" and first.parent == child.parent:
            return "parallel_budget"
        if first.queue_reason == "provider_budget" and first.group == group:
            return "provider_budget"
    return Slots(batch).reason_to_wait(child, group)


def _task_of(batch: Batch, parent: Thread, request: Spawn) -> str:
    """The task of the parent's turn, which its first child makes: what is delegated is part of it."""
    run = parent.run
    turn = run.turn if run is not None else ""
    for task in batch.state.tasks.values():
        if task.turn and task.turn == turn:
            return task.task
    if run is None:
        return ""
    task = batch.known.ids.new("task")
    scope = Scope(agent=parent.agent, thread=parent.thread, turn=turn, run=run.run, task=task)
    batch.say(TaskCreated(title=batch.state.title or _title(request.objective), assignee=parent.agent), scope)
    return task


def _join(batch: Batch, parent: Thread, definition: Definition, request: Spawn, parent_task: str) -> tuple[Thread, str]:
    agent, thread, task = _free_name(batch, definition), batch.known.ids.new("thread"), batch.known.ids.new("task")
    run: OpenRun | None = parent.run
    scope = Scope(
        agent=agent,
        thread=thread,
        task=task,
        parent_thread=parent.thread,
        parent_run=run.run if run is not None else "",
    )
    batch.say(
        TaskCreated(
            title=request.title or _title(request.objective),
            objective=batch.hold(request.objective),
            assignee=agent,
            parent_task=parent_task,
        ),
        scope,
    )
    batch.say(opened(definition, agent), scope)
    batch.say(
        SubagentSpawned(
            role=request.role or definition.role,
            objective=batch.hold(request.objective),
            isolation=request.isolation or definition.isolation,
            work_globs=request.work_globs or definition.work_globs,
            review=request.review,
            reason=request.reason,
        ),
        scope,
    )
    return batch.thread(thread), task


def _free_name(batch: Batch, definition: Definition) -> str:
    """The child's id: no other agent of the session is or could be reached by it."""
    number = batch.state.named.get(definition.name, 0) + 1
    while True:
        name = f"{definition.name}-{number}"
        if agent_of(batch.state, name) is None and batch.known.find(name) is None:
            return name
        number += 1


def _title(objective: str) -> str:
    lines = objective.strip().splitlines()
    return lines[0].strip()[:TITLE] if lines else ""
