"""Commands of jobs, and sessions with a job."""

from __future__ import annotations

from typing import Any

from callboard.contracts.commands.job import CreateJob, JobItemInput, RetryJobItem
from tests.control.rigs.examples import SESSION
from tests.control.rigs.tasks import board
from tests.control.rigs.team import Team

JOB = "job_1"


def create_job(*inputs: str, **fields: Any) -> CreateJob:
    items = tuple(JobItemInput(input=text) for text in inputs)
    defaults: dict[str, Any] = {"title": "Look at all", "instructions": "Look at this.", "agent": "worker"}
    return CreateJob(session_id=SESSION, items=items, **{**defaults, **fields})


def session_with_job(*inputs: str, **fields: Any) -> Team:
    """Return a session with an idle lead and a running job."""
    session = board()
    session.when(create_job(*inputs, **fields))
    return session


def retry_item(item: str | None = None, **fields: Any) -> RetryJobItem:
    return RetryJobItem(session_id=SESSION, job_id=JOB, item_id=item, **fields)


def session_with_retried_job() -> Team:
    """Return a session whose job retries its only, failed item."""
    session = session_with_job("alpha")
    session.fails("worker-1")
    session.when(retry_item())
    return session
