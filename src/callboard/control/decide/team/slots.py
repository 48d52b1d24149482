"""How many children work at once. Those beyond the budget wait in order, and the reason is told."""

from __future__ import annotations

from callboard.contracts.errors import Refusal
from callboard.contracts.facts import SubagentFailed, SubagentQueued, SubagentStarted, TaskFailed, TeamChanged
from callboard.contracts.scope import Scope
from callboard.contracts.team import QueueReason, TeamPhase

from ...batch import Batch
from ...state import Child, Session, TeamLoad, Thread
from ..turns import start


def child_scope(thread: Thread, child: Child, turn: str = "", run: str = "") -> Scope:
    """The scope of a fact about a child."""
    return Scope(
        agent=thread.agent,
        thread=thread.thread,
        turn=turn,
        run=run,
        task=child.task,
        parent_thread=child.parent,
        parent_run=child.parent_run,
    )


def children(state: Session, parent: str) -> list[Thread]:
    """The children of a thread that are not closed, in the order in which they were given."""
    return [one for one in state.threads.values() if one.child is not None and one.child.parent == parent]


def holds_slot(thread: Thread) -> bool:
    """True where the child has a run: also one that waits for a person holds its slot."""
    return thread.run is not None


def reason_to_wait(batch: Batch, child: Child, group: str) -> QueueReason | None:
    """Why a child of that provider's group cannot start now; None where it can."""
    at_work = [one for one in batch.state.threads.values() if one.child is not None and holds_slot(one)]
    if sum(one.child is not None and one.child.parent == child.parent for one in at_work) >= batch.known.team_budget:
        return "parallel_budget"
    if sum(one.child is not None and one.child.group == group for one in at_work) >= batch.known.group_budget:
        return "provider_budget"
    return None


def enqueue(batch: Batch, thread: str, reason: QueueReason, group: str) -> None:
    """Tells that a child waits, and for what."""
    found = batch.thread(thread)
    if found.child is None:
        raise LookupError(f"{thread} is no child")
    position = len(batch.state.waiting) + 1
    batch.say(SubagentQueued(queue_reason=reason, position=position, group=group), child_scope(found, found.child))


def start_child(batch: Batch, thread: str, group: str) -> None:
    """The child takes a slot and starts what it was given. One that cannot start at all has failed."""
    found = batch.thread(thread)
    child = found.child
    if child is None or not found.queue:
        return
    before = batch.mark()
    try:
        batch.say(SubagentStarted(role=child.role, group=group), child_scope(found, child))
        start(batch, thread, found.queue[0])
    except Refusal as refusal:
        batch.back_to(before)
        scope = child_scope(found, child)
        batch.say(SubagentFailed(code=refusal.code, message=refusal.problem.message), scope)
        batch.say(TaskFailed(code=refusal.code, message=refusal.problem.message), scope)


def fill(batch: Batch) -> None:
    """Starts those that wait and have room, in order; nobody overtakes one that waits for the same."""
    for waiting in batch.state.waiting:
        thread = batch.state.threads.get(waiting)
        if thread is None or thread.child is None or thread.paused is not None:
            continue
        if thread.child.isolation == "worktree" and not thread.child.worktree:
            continue
        if reason_to_wait(batch, thread.child, thread.child.group) is None:
            start_child(batch, waiting, thread.child.group)


def tell_load(batch: Batch) -> None:
    """Tells how much of each team is at work, where that changed."""
    for lead in list(batch.state.threads.values()):
        mine = children(batch.state, lead.thread)
        if not mine and lead.team is None:
            continue
        load = _load(batch, lead, mine)
        if load != lead.team:
            batch.say(
                TeamChanged(
                    phase=load.phase,
                    parallel_budget=batch.known.team_budget,
                    active_count=load.active,
                    queued_count=load.queued,
                    group=load.group,
                    group_budget=batch.known.group_budget if load.group else 0,
                    queue_reason=load.queue_reason,
                ),
                Scope(agent=lead.agent, thread=lead.thread),
            )


def _load(batch: Batch, lead: Thread, mine: list[Thread]) -> TeamLoad:
    waiting = [one for one in mine if one.thread in batch.state.waiting]
    first = waiting[0].child if waiting else None
    active = [one for one in mine if holds_slot(one)]
    return TeamLoad(
        phase=_phase(lead, mine, active, waiting),
        active=len(active),
        queued=len(waiting),
        group=first.group if first is not None else "",
        queue_reason=first.queue_reason if first is not None else None,
    )


def _phase(lead: Thread, mine: list[Thread], active: list[Thread], waiting: list[Thread]) -> TeamPhase:
    if active:
        blocked = all(one.run is not None and any(call.phase == "waiting" for call in one.run.calls) for one in active)
        return "waiting" if blocked else "active"
    if waiting:
        return "forming" if all(one.usage.model_calls == 0 for one in mine) else "waiting"
    return "merging" if lead.run is not None else "done"
