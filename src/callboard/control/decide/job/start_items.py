"""Progress of jobs: start of items, end of jobs, and release of their workers."""

from __future__ import annotations

import msgspec

from callboard.contracts.facts.task import (
    SnapshotUpdated,
    TaskCancelled,
    TaskCompleted,
    TaskFailed,
    TaskPaused,
    TaskStarted,
)

from ...batch import Batch
from ...state.job import OpenJob
from ...state.task import OpenTask
from ...task_status import build_task_scope, find_task_run
from ..subagent import ending
from ..subagent.child_scope import ENDED
from .status import list_items
from .workers import begin_item


def settle_jobs(batch: Batch) -> None:
    """Start items of all jobs within their limits, and end the finished jobs."""
    for job in list(batch.state.jobs.values()):
        job_task = batch.state.tasks.get(job.task)
        if job_task is None or job_task.paused or job_task.cancelling:
            continue
        if not batch.inputs.is_archived:
            _start_items(batch, job)
        elif any(map(_is_ready, list_items(batch.state, job))):
            # Nothing begins in an archived session. A person resumes the job after unarchiving.
            batch.add(TaskPaused(reason="the session was archived"), build_task_scope(batch.state, job_task))
            continue
        _end_job(batch, job)
    _close_workers(batch)


def _start_items(batch: Batch, job: OpenJob) -> None:
    items = list_items(batch.state, job)
    limit = min(job.parallel or batch.inputs.team_budget, batch.inputs.team_budget)
    free_slots = limit - sum(_is_using_slot(batch, item) for item in items)
    for item in items:
        if free_slots <= 0:
            return
        if _is_ready(item):
            free_slots -= begin_item(batch, job, item)


def _close_workers(batch: Batch) -> None:
    """Close the workers of finished jobs. A worktree stays until it is merged."""
    for thread in list(batch.state.threads.values()):
        child = thread.child
        if child is None or not child.job or child.job in batch.state.jobs or child.worktree or thread.run is not None:
            continue
        if child.status in ENDED:
            ending.end_child(batch, thread, child, "closed", "its job has ended")


def _is_using_slot(batch: Batch, item: OpenTask) -> bool:
    return item.work == "running" and not (item.paused and find_task_run(batch.state, item) is None)


def _is_ready(item: OpenTask) -> bool:
    done = set(item.depends_on) <= set(item.done_dependencies)
    return not item.work and not item.paused and not item.cancelling and done


def _end_job(batch: Batch, job: OpenJob) -> None:
    """End a job without open items. A job whose open items all failed has failed until a retry."""
    items, job_task = list_items(batch.state, job), batch.state.tasks[job.task]
    scope = build_task_scope(batch.state, job_task)
    failed = sum(item.work == "over" for item in items)
    if failed < len(items):
        if job_task.work == "over":
            next_attempt = msgspec.structs.replace(scope, attempt=job_task.attempt + 1)
            batch.add(TaskStarted(assignee=job.agent, reason="its items are retried"), next_attempt)
        return
    done = batch.state.jobs[job.job].done
    summary = f"{done} of {job.items} items are done"
    if not items and not done:
        batch.add(TaskCancelled(reason="all of its items were cancelled"), scope)
    elif not items:
        batch.add(TaskCompleted(summary=summary, refs=job_task.refs), scope)
    elif job_task.work != "over":
        batch.add(TaskFailed(code="items_failed", message=f"{summary}, {failed} failed"), scope)
    else:
        return
    batch.add(SnapshotUpdated(through=batch.state.sequence), scope)
