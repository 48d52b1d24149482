"""What a person reads of a job: how it stands, and how each of its items does."""

from __future__ import annotations

from callboard.contracts.commands.jobs import GetJob, JobItem, JobItemStatus, JobRead, JobStatus
from callboard.contracts.errors import Refusal
from callboard.contracts.rows import TaskRow
from callboard.contracts.rows.team import JobItems

from .tasks import TaskReads


async def read_job(reads: TaskReads, query: GetJob) -> JobRead:
    """A job with its items in their order. Raises Refusal `unknown_session`, `unknown_job`."""
    mine, sequence = await reads.job_rows(query.session_id, query.job_id)
    whole = next((row for row in mine if row.items is not None), None)
    if whole is None:
        raise Refusal(
            "unknown_job",
            f"The session has no job {query.job_id}.",
            field="jobId",
            hint="list_tasks names the job of each task.",
        )
    return JobRead(
        session_id=query.session_id,
        job_id=query.job_id,
        task_id=whole.key,
        title=whole.title,
        agent=whole.assignee,
        status=_of_job(whole),
        counts=whole.items or JobItems(),
        items=tuple(_item(row) for row in mine if row.key != whole.key),
        sequence=sequence,
    )


def _of_job(row: TaskRow) -> JobStatus:
    if row.status == "done":
        return "completed"
    if row.status == "cancelled":
        return "cancelled"
    if row.cancelling:
        return "cancelling"
    if row.paused:
        return "paused"
    return "failed" if row.ended else "running"


def _of_item(row: TaskRow) -> JobItemStatus:
    stands = _of_job(row)
    failed = bool(row.attempts) and row.attempts[-1].status == "failed"
    if (stands == "paused" and row.ended) or (stands == "cancelled" and failed):
        return "failed"
    if stands == "running" and (not row.attempts or row.status in ("open", "claimed")):
        return "waiting"
    return stands


def _item(row: TaskRow) -> JobItem:
    last = row.attempts[-1] if row.attempts else None
    status = _of_item(row)
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
