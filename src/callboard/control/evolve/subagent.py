"""Children: given, waiting for a slot, at work, ended, closed; and reviews."""

from __future__ import annotations

import msgspec

from callboard.contracts.entities.team import ChildStatus, WorkUsage
from callboard.contracts.facts import (
    ReviewRequested,
    ReviewVerdict,
    SubagentCancelled,
    SubagentCompleted,
    SubagentFailed,
    SubagentIsolated,
    SubagentQueued,
    SubagentsAwaited,
    SubagentSpawned,
    SubagentStarted,
    TeamChanged,
    WorkerNotification,
)

from ..state.session import Child, OpenReview, OpenRun, Session, TeamLoad, Thread
from .fact_context import FactContext, change_run, change_thread


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


def review_requested(state: Session, fact: ReviewRequested, place: FactContext) -> Session:
    review = OpenReview(
        review=place.scope.review,
        task=place.scope.task,
        reviewer=fact.reviewer,
        target=fact.target,
        asker=place.scope.thread if fact.item else "",
    )
    return msgspec.structs.replace(state, reviews={**state.reviews, review.review: review})


def review_judged(state: Session, fact: ReviewVerdict, place: FactContext) -> Session:
    review = state.reviews.get(place.scope.review)
    if review is None:
        return state
    if fact.verdict == "changes_requested":
        changed = msgspec.structs.replace(review, judged=True, fixes=fact.fixes, summary=fact.summary)
        return msgspec.structs.replace(state, reviews={**state.reviews, review.review: changed})
    return _without_review(state, review.review)


def review_applied(state: Session, place: FactContext) -> Session:
    return _without_review(state, place.scope.review)


def _without_review(state: Session, review: str) -> Session:
    return msgspec.structs.replace(state, reviews={key: one for key, one in state.reviews.items() if key != review})


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
