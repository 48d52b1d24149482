"""Facts of jobs: batches of items, each of them a task."""

from __future__ import annotations

from typing import assert_never

from msgspec.structs import replace

from callboard.contracts.facts.job import JobCreated, JobFact, JobItemRetried

from ..state.job import OpenJob
from ..state.session import Session
from .fact_context import FactContext, drop_entry


def apply(state: Session, fact: JobFact, context: FactContext) -> Session:
    match fact:
        case JobCreated():
            return _create_job(state, fact, context)
        case JobItemRetried():
            return _retry_item(state, context)
        case _:
            assert_never(fact)


def _create_job(state: Session, fact: JobCreated, context: FactContext) -> Session:
    job = OpenJob(
        job=context.scope.job,
        task=context.scope.task,
        agent=fact.agent,
        items=fact.items,
        parallel=fact.parallel,
        isolation=fact.isolation,
        permission_mode=fact.permission_mode,
        chosen=fact.chosen,
    )
    return replace(state, jobs={**state.jobs, job.job: job})


def _retry_item(state: Session, context: FactContext) -> Session:
    """Let the item wait for a worker. Its earlier attempts still count."""
    item = state.tasks.get(context.scope.task)
    if item is None:
        return state
    return replace(state, tasks={**state.tasks, item.task: replace(item, work="", ended=None)})


def count_done_item(state: Session, job_id: str) -> Session:
    job = state.jobs.get(job_id)
    if job is None:
        return state
    return replace(state, jobs={**state.jobs, job_id: replace(job, done=job.done + 1)})


def remove_job(state: Session, job_id: str, task: str) -> Session:
    """Remove a job whose task ended. The end of an item removes no job."""
    job = state.jobs.get(job_id)
    return state if job is None or job.task != task else replace(state, jobs=drop_entry(state.jobs, job_id))
