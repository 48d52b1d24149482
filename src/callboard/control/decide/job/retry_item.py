"""Retries of a job's failed items."""

from __future__ import annotations

from callboard.contracts.commands.job import JobChanged, RetryJobItem
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.job import JobItemRetried

from ...batch import Batch
from ...state.job import OpenJob
from ...state.task import OpenTask
from ...task_status import build_task_scope
from .start_items import settle_jobs
from .status import build_job_answer, list_items, require_active_job


def retry_items(batch: Batch, request: RetryJobItem) -> JobChanged:
    """Request another attempt of one failed item, or of all of them.

    Raises:
        Refusal: `unknown_job`; `unknown_task` for an item of another job; `job_item_done` for an
            ended one; `task_running`; `task_not_ready` if no item failed; `task_paused`.
    """
    job, job_task = require_active_job(batch.state, request.job_id)
    if job_task.paused:
        raise Refusal("task_paused", "The job is paused.", field="jobId", hint="Resume it with resume_job.")
    if request.item_id is not None:
        failed_items = [_require_failed(batch, job, request.item_id)]
    else:
        failed_items = [item for item in list_items(batch.state, job) if item.work == "over" and not item.paused]
    if not failed_items:
        raise Refusal(
            "task_not_ready", "No item of the job failed.", field="jobId", hint="Read their status with get_job."
        )
    for item in failed_items:
        batch.add(JobItemRetried(reason=request.reason), build_task_scope(batch.state, item))
    settle_jobs(batch)
    return build_job_answer(batch, job, tuple(item.task for item in failed_items))


def _require_failed(batch: Batch, job: OpenJob, item_id: str) -> OpenTask:
    item = batch.state.tasks.get(item_id)
    if item is None and item_id in batch.inputs.closed_ids:
        raise Refusal(
            "job_item_done",
            f"The item {item_id} is done or was cancelled, and cannot be retried.",
            field="itemId",
            hint="Read its result with get_job.",
        )
    if item is None or item.job != job.job or item.task == job.task:
        raise Refusal(
            "unknown_task",
            f"The job {job.job} has no open item {item_id}.",
            field="itemId",
            hint="Find the items with get_job.",
        )
    if item.work == "running":
        raise Refusal("task_running", f"The item {item_id} is running.", field="itemId", hint="Wait for it.")
    missing = [task_id for task_id in item.depends_on if task_id not in item.done_dependencies]
    if item.work != "over":
        waits_for, hint = "its turn", "Wait for it."
        if missing:
            waits_for = ", ".join(missing)
            hint = "Remove its dependencies with unlink_tasks, or cancel the item with cancel_task."
        raise Refusal("task_not_ready", f"The item {item_id} waits for {waits_for}.", field="itemId", hint=hint)
    if item.paused:
        raise Refusal(
            "task_paused", f"The item {item_id} is paused.", field="itemId", hint="Resume it with resume_task."
        )
    return item
