"""Slots: how many children run in parallel. Further children wait in order, with a recorded reason."""

from __future__ import annotations

from collections import Counter

import msgspec

from callboard.contracts.entities.team import QueueReason, TeamPhase
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.subagent import SubagentQueued, SubagentStarted, TeamChanged
from callboard.contracts.facts.task import TaskStarted
from callboard.contracts.scope import Scope

from ...batch import Batch
from ...state.session import Session, Thread
from ...state.subagent import Child
from ...state.team import TeamLoad
from ...state.turn import QueuedTurn
from ...task_status import was_stopped
from ..turn.queue_eligibility import find_startable
from ..turn.start import start_turn
from . import ending
from .child_scope import build_child_scope


class Slots:
    """The occupied slots. A child with a run occupies one, also while it waits for a person."""

    def __init__(self, batch: Batch) -> None:
        self._budgets = batch.inputs.team_budget, batch.inputs.group_budget
        running = [
            thread.child
            for thread in batch.state.threads.values()
            if thread.child is not None and thread.run is not None
        ]
        self._parents = Counter(child.parent for child in running)
        self._groups = Counter(child.group for child in running)

    def find_wait_reason(self, child: Child, group: str) -> QueueReason | None:
        """Return why a child of this provider cannot start now; None if it can."""
        if self._parents[child.parent] >= self._budgets[0]:
            return "parallel_budget"
        return "provider_budget" if self._groups[group] >= self._budgets[1] else None

    def occupy(self, child: Child, group: str) -> None:
        """Count one more running child."""
        self._parents[child.parent] += 1
        self._groups[group] += 1


def enqueue(batch: Batch, thread: str, reason: QueueReason, group: str) -> None:
    """Record that a child waits, and why."""
    child_thread = batch.get_thread(thread)
    if child_thread.child is None:
        raise LookupError(f"{thread} is not a child")
    waiting = batch.state.waiting
    position = waiting.index(thread) + 1 if thread in waiting else len(waiting) + 1
    batch.add(
        SubagentQueued(queue_reason=reason, position=position, group=group),
        build_child_scope(child_thread, child_thread.child),
    )


def start_child(batch: Batch, thread: str, group: str) -> None:
    """Start the child's first turn in a slot. A child that cannot start fails."""
    child_thread = batch.get_thread(thread)
    child = child_thread.child
    first = find_startable(batch.state, child_thread)
    if child is None or first is None:
        return
    before = batch.mark()
    try:
        batch.add(SubagentStarted(role=child.role, group=group), build_child_scope(child_thread, child))
        _begin_new_attempt(batch, child_thread, child, first)
        start_turn(batch, thread, first)
    except Refusal as refusal:
        batch.roll_back(before)
        ending.fail_child(batch, child_thread, child, refusal.code, refusal.problem.message)


def _begin_new_attempt(batch: Batch, thread: Thread, child: Child, turn: QueuedTurn) -> None:
    """Begin another attempt of an interrupted child's task; the former attempt ended with the
    interrupt."""
    task = batch.state.tasks.get(child.task)
    if task is None or task.work != "over" or task.thread != thread.thread or not was_stopped(thread):
        return
    scope = msgspec.structs.replace(build_child_scope(thread, child), turn=turn.turn, attempt=task.attempt + 1)
    batch.add(TaskStarted(assignee=thread.agent), scope)


def start_or_wait(batch: Batch, thread_id: str) -> None:
    """Start an idle child's turn, or let it wait for a slot or for its worktree."""
    thread = batch.get_thread(thread_id)
    child = thread.child
    if child is None or thread.run is not None or find_startable(batch.state, thread) is None:
        return
    if is_missing_worktree(child):
        enqueue(batch, thread_id, "worktree", child.group)
    elif thread_id not in batch.state.waiting:
        reason = Slots(batch).find_wait_reason(child, child.group)
        if reason is None:
            start_child(batch, thread_id, child.group)
        else:
            enqueue(batch, thread_id, reason, child.group)


def is_missing_worktree(child: Child) -> bool:
    """Return True for a child that waits for its own worktree."""
    return child.isolation == "worktree" and not child.worktree


def fill_slots(batch: Batch) -> None:
    """Start waiting children in order while slots are free. A child never overtakes another one
    that waits for the same slot."""
    if not batch.state.waiting:
        return
    slots = Slots(batch)
    for waiting in batch.state.waiting:
        thread = batch.state.threads.get(waiting)
        if thread is None or thread.child is None or thread.paused is not None or is_missing_worktree(thread.child):
            continue
        if slots.find_wait_reason(thread.child, thread.child.group) is not None:
            continue
        if find_startable(batch.state, thread) is not None:
            start_child(batch, waiting, thread.child.group)
            if batch.get_thread(waiting).run is not None:
                slots.occupy(thread.child, thread.child.group)


def record_load(batch: Batch) -> None:
    """Record the load of each team if it changed."""
    teams: dict[str, list[Thread]] = {
        thread.thread: [] for thread in batch.state.threads.values() if thread.team is not None
    }
    for thread in batch.state.threads.values():
        if thread.child is not None:
            teams.setdefault(thread.child.parent, []).append(thread)
    for parent, team in teams.items():
        lead = batch.state.threads.get(parent)
        load = _build_team_load(batch.state, lead, team) if lead is not None else None
        if lead is not None and load is not None and load != lead.team:
            batch.add(
                TeamChanged(
                    phase=load.phase,
                    parallel_budget=batch.inputs.team_budget,
                    active_count=load.active,
                    queued_count=load.queued,
                    group=load.group,
                    group_budget=batch.inputs.group_budget if load.group else 0,
                    queue_reason=load.queue_reason,
                ),
                Scope(agent=lead.agent, thread=lead.thread),
            )


def _build_team_load(state: Session, lead: Thread, team: list[Thread]) -> TeamLoad:
    queued = set(state.waiting)
    waiting = [thread for thread in team if thread.thread in queued]
    first = waiting[0].child if waiting else None
    active = [thread for thread in team if thread.run is not None]
    return TeamLoad(
        phase=_derive_team_phase(lead, team, active, waiting),
        active=len(active),
        queued=len(waiting),
        group=first.group if first is not None else "",
        queue_reason=first.queue_reason if first is not None else None,
    )


def _derive_team_phase(lead: Thread, team: list[Thread], active: list[Thread], waiting: list[Thread]) -> TeamPhase:
    if active:
        blocked = all(thread.run is not None and any(call.action for call in thread.run.calls) for thread in active)
        return "waiting" if blocked else "active"
    if waiting:
        return "forming" if all(thread.usage.model_calls == 0 for thread in team) else "waiting"
    if lead.run is not None:
        return "merging"
    return "waiting" if lead.paused is not None or lead.inbox else "done"
