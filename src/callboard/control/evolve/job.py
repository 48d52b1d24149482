"""Jobs: work in batches, whose items are tasks."""

from __future__ import annotations

from typing import assert_never

import msgspec

from callboard.contracts.facts.job import JobCreated, JobFact, JobItemRetried

from ..state.session import Session
from ..state.team import OpenJob
from .fact_context import FactContext


def apply(state: Session, fact: JobFact, place: FactContext) -> Session:
    """Return the state after a fact."""
    match fact:
        case JobCreated():
            return created(state, fact, place)
        case JobItemRetried():
            return retried(state, place)
        case _:
            assert_never(fact)


def created(state: Session, fact: JobCreated, place: FactContext) -> Session:
    scope = place.scope
    job = OpenJob(
        job=scope.job,
        task=scope.task,
        agent=fact.agent,
        items=fact.items,
        parallel=fact.parallel,
        isolation=fact.isolation,
        permission_mode=fact.permission_mode,
        chosen=fact.chosen,
    )
    return msgspec.structs.replace(state, jobs={**state.jobs, job.job: job})


def retried(state: Session, place: FactContext) -> Session:
    """The item waits for its job's room; the attempts that it had stay counted."""
    item = state.tasks.get(place.scope.task)
    if item is None:
        return state
    waiting = msgspec.structs.replace(item, work="", ended=None)
    return msgspec.structs.replace(state, tasks={**state.tasks, item.task: waiting})


def item_done(state: Session, job: str) -> Session:
    """One more of its items is done."""
    found = state.jobs.get(job)
    if found is None:
        return state
    return msgspec.structs.replace(state, jobs={**state.jobs, job: msgspec.structs.replace(found, done=found.done + 1)})


def without_job(state: Session, job: str, task: str) -> Session:
    """A job is over with its own task."""
    found = state.jobs.get(job)
    if found is None or found.task != task:
        return state
    return msgspec.structs.replace(state, jobs={key: one for key, one in state.jobs.items() if key != job})
