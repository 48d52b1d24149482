"""Pause, resume and cancel of jobs."""

from __future__ import annotations

from callboard.contracts.commands.job import CancelJob, JobChanged, PauseJob, ResumeJob
from callboard.contracts.commands.task import PauseTask, ResumeTask
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.task import TaskPaused

from ...batch import Batch
from ...task_status import build_task_scope, list_subtasks
from ..task.control import cancel_task, pause_task, resume_task
from .status import build_job_answer, list_items, require_active_job, require_job


def pause_job(batch: Batch, request: PauseJob) -> JobChanged:
    """Pause the job's task with its items.

    Raises:
        Refusal: `unknown_job`, `task_paused`.
    """
    job, job_task = require_active_job(batch.state, request.job_id)
    if job_task.paused:
        raise Refusal("task_paused", "The job is already paused.", field="jobId", hint="Resume it with resume_job.")
    pause_task(batch, PauseTask(session_id=request.session_id, task_id=job.task, reason=request.reason))
    return build_job_answer(batch, job)


def resume_job(batch: Batch, request: ResumeJob) -> JobChanged:
    """Resume the job's task with its items.

    Raises:
        Refusal: `unknown_job`, `task_not_paused`.
    """
    job, job_task = require_active_job(batch.state, request.job_id)
    if not job_task.paused:
        raise Refusal("task_not_paused", "The job is not paused.", field="jobId", hint="Read its status with get_job.")
    resume_task(batch, ResumeTask(session_id=request.session_id, task_id=job.task, reason=request.reason))
    return build_job_answer(batch, job)


def cancel_job(batch: Batch, request: CancelJob) -> JobChanged:
    """Cancel the job with its open items. The intent comes first.

    Raises:
        Refusal: `unknown_job`.
    """
    job = require_job(batch.state, request.job_id)
    open_items = tuple(item.task for item in list_items(batch.state, job))
    cancel_task(batch, None, job.task, request.reason or "its job was cancelled")
    return build_job_answer(batch, job, open_items, "cancelling")


def pause_interrupted_jobs(batch: Batch) -> None:
    """Pause all jobs because their process ended. A person resumes them."""
    for job in batch.state.jobs.values():
        job_task = batch.state.tasks.get(job.task)
        if job_task is None or job_task.cancelling:
            continue
        for task in (job_task, *list_subtasks(batch.state, job_task.task)):
            if not task.paused and not task.cancelling:
                batch.add(TaskPaused(reason="its process ended"), build_task_scope(batch.state, task))
