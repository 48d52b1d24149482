"""Facts of children: spawned, waiting for a slot, at work, ended, closed."""

from __future__ import annotations

from typing import assert_never

from msgspec.structs import replace

from callboard.contracts.entities.team import ChildStatus, WorkUsage
from callboard.contracts.facts.subagent import (
    SubagentCancelled,
    SubagentClosed,
    SubagentCompleted,
    SubagentContinued,
    SubagentFact,
    SubagentFailed,
    SubagentIsolated,
    SubagentMerged,
    SubagentMergeRequested,
    SubagentQueued,
    SubagentsAwaited,
    SubagentSpawned,
    SubagentStarted,
    TeamChanged,
    WorkerNotification,
)

from ..state.session import Session, Thread
from ..state.subagent import Child
from ..state.team import TeamLoad
from .exchange.inbox import notify_parent
from .fact_context import FactContext, change_thread, drop_entry, update_thread
from .tool import change_call


def apply(state: Session, fact: SubagentFact, context: FactContext) -> Session:
    match fact:
        case SubagentSpawned():
            return _spawn_child(state, fact, context)
        case SubagentQueued():
            return _queue_child(state, fact, context)
        case SubagentIsolated():
            return _update_child(state, context, worktree=fact.path, branch=fact.branch, base=fact.base)
        case SubagentStarted():
            started = _update_child(state, context, status="running", queue_reason=None, group=fact.group)
            return _stop_waiting(started, context)
        case SubagentContinued():
            return _continue_child(state, context)
        case SubagentCompleted():
            return _end_child(state, fact, "completed", context)
        case SubagentFailed():
            return _end_child(state, fact, "failed", context)
        case SubagentCancelled():
            return _end_child(state, fact, "cancelled", context)
        case SubagentMergeRequested():
            return _update_child(state, context, merging=True)
        case SubagentMerged():
            return _update_child(state, context, merging=False)
        case SubagentClosed():
            return _close_child(state, context)
        case SubagentsAwaited():
            return _await_children(state, fact, context)
        case TeamChanged():
            return _record_load(state, fact, context)
        case WorkerNotification():
            return notify_parent(_pause_child(state, fact, context), fact, context)
        case _:
            assert_never(fact)


def _spawn_child(state: Session, fact: SubagentSpawned, context: FactContext) -> Session:
    scope = context.scope
    child = Child(
        parent=scope.parent_thread,
        parent_run=scope.parent_run,
        task=scope.task,
        role=fact.role,
        status="queued",
        isolation=fact.isolation,
        work_globs=fact.work_globs,
        review=fact.review,
        job=scope.job,
    )
    return update_thread(state, context, child=child)


def _queue_child(state: Session, fact: SubagentQueued, context: FactContext) -> Session:
    changed = _update_child(state, context, status="queued", queue_reason=fact.queue_reason, group=fact.group)
    if context.scope.thread in changed.waiting:
        return changed
    return replace(changed, waiting=(*changed.waiting, context.scope.thread))


def _continue_child(state: Session, context: FactContext) -> Session:
    """Give the child its next task."""
    return _update_child(
        update_thread(state, context, usage=WorkUsage(), ended=None),
        context,
        status="queued",
        ending="",
        reason="",
        task=context.scope.task,
        parent_run=context.scope.parent_run,
        job=context.scope.job,
    )


def _end_child(
    state: Session,
    fact: SubagentCompleted | SubagentFailed | SubagentCancelled,
    status: ChildStatus,
    context: FactContext,
) -> Session:
    """End the child's work. Cancelling it drops the open reviews of its work."""
    if status == "cancelled":
        reviews = {key: review for key, review in state.reviews.items() if context.scope.agent != review.target}
        state = replace(state, reviews=reviews)
    is_plain = isinstance(fact, SubagentCompleted) and fact.plain_text
    ended = _update_child(state, context, status=status, ending="", result=fact.result, plain_text=is_plain)
    return _stop_waiting(ended, context)


def _close_child(state: Session, context: FactContext) -> Session:
    """Remove the child and the open reviews by it or of its work."""
    agent = context.scope.agent
    reviews = {key: item for key, item in state.reviews.items() if agent not in (item.target, item.reviewer)}
    closed = replace(state, threads=drop_entry(state.threads, context.scope.thread), reviews=reviews)
    return _stop_waiting(closed, context)


def _pause_child(state: Session, fact: WorkerNotification, context: FactContext) -> Session:
    if fact.status not in ("interrupted", "needs_input", "ready_for_review"):
        return state
    return _update_child(state, context, status="waiting", result=fact.result, plain_text=fact.plain_text)


def _record_load(state: Session, fact: TeamChanged, context: FactContext) -> Session:
    load = TeamLoad(
        phase=fact.phase,
        active=fact.active_count,
        queued=fact.queued_count,
        group=fact.group,
        queue_reason=fact.queue_reason,
    )
    return update_thread(state, context, team=load)


def _await_children(state: Session, fact: SubagentsAwaited, context: FactContext) -> Session:
    ended = tuple(
        thread.agent
        for thread in state.threads.values()
        if thread.agent in fact.agents
        and thread.child is not None
        and thread.child.status in ("completed", "failed", "cancelled")
    )
    return change_call(
        state,
        context,
        lambda call: replace(
            call, awaits=fact.agents, any_of=fact.mode == "any", until=fact.until, already_ended=ended
        ),
    )


def _update_child(state: Session, context: FactContext, **changes: object) -> Session:
    def change(thread: Thread) -> Thread:
        return thread if thread.child is None else replace(thread, child=replace(thread.child, **changes))

    return change_thread(state, context, change)


def _stop_waiting(state: Session, context: FactContext) -> Session:
    if context.scope.thread not in state.waiting:
        return state
    return replace(state, waiting=tuple(thread for thread in state.waiting if thread != context.scope.thread))
