"""Open jobs, their items and their status."""

from __future__ import annotations

from callboard.contracts.commands.job import JobChanged, JobStatus
from callboard.contracts.errors import Refusal

from ...batch import Batch
from ...state.job import OpenJob
from ...state.session import Session
from ...state.task import OpenTask


def require_job(state: Session, job_id: str) -> OpenJob:
    """Return the open job.

    Raises:
        Refusal: `unknown_job`.
    """
    job = state.jobs.get(job_id)
    if job is None:
        raise Refusal("unknown_job", f"There is no open job {job_id}.", field="jobId", hint="Read it with get_job.")
    return job


def require_active_job(state: Session, job_id: str) -> tuple[OpenJob, OpenTask]:
    """Return the job with its own task.

    Raises:
        Refusal: `unknown_job`, also for a job that is being cancelled.
    """
    job = require_job(state, job_id)
    job_task = state.tasks[job.task]
    if job_task.cancelling:
        raise Refusal(
            "unknown_job",
            f"The job {job_id} is being cancelled.",
            field="jobId",
            hint="Begin another job with create_job.",
        )
    return job, job_task


def list_items(state: Session, job: OpenJob) -> list[OpenTask]:
    """Return the open items of the job in order."""
    return [task for task in state.tasks.values() if task.job == job.job and task.task != job.task]


def build_job_answer(
    batch: Batch, job: OpenJob, items: tuple[str, ...] = (), status: JobStatus | None = None
) -> JobChanged:
    """Return the answer with the job's present status."""
    return JobChanged(
        session_id=batch.state.session,
        job_id=job.job,
        task_id=job.task,
        status=status or _derive_status(batch.state.tasks.get(job.task)),
        items=items,
        sequence=batch.state.sequence,
    )


def _derive_status(job_task: OpenTask | None) -> JobStatus:
    if job_task is None:
        return "completed"
    if job_task.cancelling:
        return "cancelling"
    if job_task.paused:
        return "paused"
    return "failed" if job_task.work == "over" else "running"
