"""Children: given, waiting for a slot, at work, ended, closed; and reviews."""

from __future__ import annotations

from typing import assert_never

import msgspec

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
from ..state.team import Child, TeamLoad
from ..state.turn import OpenRun
from .fact_context import FactContext, change_run, change_thread
from .handoff import notified as notified_parent


def apply(state: Session, fact: SubagentFact, place: FactContext) -> Session:
    """Return the state after a fact."""
    match fact:
        case SubagentSpawned():
            return spawned(state, fact, place)
        case SubagentQueued():
            return queued(state, fact, place)
        case SubagentIsolated():
            return isolated(state, fact, place)
        case SubagentStarted():
            return started(state, fact, place)
        case SubagentContinued():
            return continued(state, place)
        case SubagentCompleted():
            return ended(state, fact, "completed", place)
        case SubagentFailed():
            return ended(state, fact, "failed", place)
        case SubagentCancelled():
            return ended(state, fact, "cancelled", place)
        case SubagentMergeRequested():
            return merging(state, place, now=True)
        case SubagentMerged():
            return merging(state, place, now=False)
        case SubagentClosed():
            return closed(state, place)
        case SubagentsAwaited():
            return awaited(state, fact, place)
        case TeamChanged():
            return load(state, fact, place)
        case WorkerNotification():
            return notified_parent(notified(state, fact, place), fact, place)
        case _:
            assert_never(fact)


def spawned(state: Session, fact: SubagentSpawned, place: FactContext) -> Session:
    child = Child(
        parent=place.scope.parent_thread,
        parent_run=place.scope.parent_run,
        task=place.scope.task,
        role=fact.role,
        status="queued",
        isolation=fact.isolation,
        work_globs=fact.work_globs,
        review=fact.review,
        job=place.scope.job,
    )
    return change_thread(state, place, lambda thread: msgspec.structs.replace(thread, child=child))


def queued(state: Session, fact: SubagentQueued, place: FactContext) -> Session:
    changed = _change(state, place, status="queued", queue_reason=fact.queue_reason, group=fact.group)
    waiting = changed.waiting if place.scope.thread in changed.waiting else (*changed.waiting, place.scope.thread)
    return msgspec.structs.replace(changed, waiting=waiting)


def isolated(state: Session, fact: SubagentIsolated, place: FactContext) -> Session:
    return _change(state, place, worktree=fact.path, branch=fact.branch, base=fact.base)


def merging(state: Session, place: FactContext, *, now: bool) -> Session:
    return _change(state, place, merging=now)


def started(state: Session, fact: SubagentStarted, place: FactContext) -> Session:
    return _leave(_change(state, place, status="running", queue_reason=None, group=fact.group), place)


def continued(state: Session, place: FactContext) -> Session:
    """It works on another task from here on."""
    return _change(
        change_thread(state, place, lambda thread: msgspec.structs.replace(thread, usage=WorkUsage(), ended=None)),
        place,
        status="queued",
        ending="",
        reason="",
        task=place.scope.task,
        parent_run=place.scope.parent_run,
        job=place.scope.job,
    )


def ended(
    state: Session,
    fact: SubagentCompleted | SubagentFailed | SubagentCancelled,
    status: ChildStatus,
    place: FactContext,
) -> Session:
    """What was to be judged of a cancelled child's work is judged no more."""
    if status == "cancelled":
        kept = {key: one for key, one in state.reviews.items() if place.scope.agent != one.target}
        state = msgspec.structs.replace(state, reviews=kept)
    plain = isinstance(fact, SubagentCompleted) and fact.plain_text
    return _leave(_change(state, place, status=status, ending="", result=fact.result, plain_text=plain), place)


def closed(state: Session, place: FactContext) -> Session:
    """A closed child takes nothing more: deciders forget it, and what was to be judged of its work."""
    threads = {key: thread for key, thread in state.threads.items() if key != place.scope.thread}
    reviews = {key: one for key, one in state.reviews.items() if place.scope.agent not in (one.target, one.reviewer)}
    return _leave(msgspec.structs.replace(state, threads=threads, reviews=reviews), place)


def notified(state: Session, fact: WorkerNotification, place: FactContext) -> Session:
    """A child that was interrupted or needs somebody, or whose work waits for a verdict, waits."""
    if fact.status not in ("interrupted", "needs_input", "ready_for_review"):
        return state
    return _change(state, place, status="waiting", result=fact.result, plain_text=fact.plain_text)


def load(state: Session, fact: TeamChanged, place: FactContext) -> Session:
    told = TeamLoad(
        phase=fact.phase,
        active=fact.active_count,
        queued=fact.queued_count,
        group=fact.group,
        queue_reason=fact.queue_reason,
    )
    return change_thread(state, place, lambda thread: msgspec.structs.replace(thread, team=told))


def awaited(state: Session, fact: SubagentsAwaited, place: FactContext) -> Session:
    over = tuple(
        one.agent
        for one in state.threads.values()
        if one.agent in fact.agents
        and one.child is not None
        and one.child.status in ("completed", "failed", "cancelled")
    )

    def wait(run: OpenRun) -> OpenRun:
        return msgspec.structs.replace(
            run,
            calls=tuple(
                msgspec.structs.replace(
                    call, awaits=fact.agents, any_of=fact.mode == "any", until=fact.until, already_ended=over
                )
                if call.call == place.scope.tool_call
                else call
                for call in run.calls
            ),
        )

    return change_run(state, place, wait)


def _change(state: Session, place: FactContext, **changes: object) -> Session:
    def change(thread: Thread) -> Thread:
        if thread.child is None:
            return thread
        return msgspec.structs.replace(thread, child=msgspec.structs.replace(thread.child, **changes))

    return change_thread(state, place, change)


def _leave(state: Session, place: FactContext) -> Session:
    if place.scope.thread not in state.waiting:
        return state
    return msgspec.structs.replace(state, waiting=tuple(one for one in state.waiting if one != place.scope.thread))
