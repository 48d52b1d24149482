"""The answer of the query for a job."""

from __future__ import annotations

from callboard.contracts.commands.job import GetJob, JobItem, JobItemStatus, JobRead, JobStatus
from callboard.contracts.errors import Refusal
from callboard.contracts.rows.task import JobItems, TaskRow


def build_job(query: GetJob, rows: list[TaskRow], sequence: int) -> JobRead:
    """Return the job with its items from the rows of their tasks."""
    job_row = next((row for row in rows if row.items is not None), None)
    if job_row is None:
        raise Refusal(
            "unknown_job",
            f"The session has no job {query.job_id}.",
            field="jobId",
            hint="Find jobs with list_tasks.",
        )
    return JobRead(
        session_id=query.session_id,
        job_id=query.job_id,
        task_id=job_row.key,
        title=job_row.title,
        agent=job_row.assignee,
        status=_derive_job_status(job_row),
        counts=job_row.items or JobItems(),
        items=tuple(_build_item(row) for row in rows if row.key != job_row.key),
        sequence=sequence,
    )


def _derive_job_status(row: TaskRow) -> JobStatus:
    if row.status == "done":
        return "completed"
    if row.status == "cancelled":
        return "cancelled"
    if row.cancelling:
        return "cancelling"
    if row.paused:
        return "paused"
    return "failed" if row.ended else "running"


def _derive_item_status(row: TaskRow) -> JobItemStatus:
    status = _derive_job_status(row)
    failed = bool(row.attempts) and row.attempts[-1].status == "failed"
    if (status == "paused" and row.ended) or (status == "cancelled" and failed):
        return "failed"
    if status == "running" and (not row.attempts or row.status in ("open", "claimed")):
        return "waiting"
    return status


def _build_item(row: TaskRow) -> JobItem:
    last = row.attempts[-1] if row.attempts else None
    status = _derive_item_status(row)
    return JobItem(
        item_id=row.key,
        title=row.title,
        status=status,
        attempts=last.number if last is not None else 0,
        agent_id=last.agent_id if last is not None else "",
        run_id=last.run_id if last is not None else "",
        output=row.summary if status == "completed" else "",
        refs=row.refs,
        problem=row.blocker if status == "failed" else "",
        plain_text=row.plain_text and status == "completed",
    )
