"""Jobs, and what a person asks of them."""

from __future__ import annotations

from typing import Any

from callboard.contracts.commands.job import CreateJob, JobItemInput, RetryJobItem
from tests.control.rigs.examples import SESSION
from tests.control.rigs.tasks import board
from tests.control.rigs.team import Team

JOB = "job_1"


def job(*inputs: str, **rest: Any) -> CreateJob:
    items = tuple(JobItemInput(input=one) for one in inputs)
    given: dict[str, Any] = {"title": "Look at all", "instructions": "Look at this.", "agent": "worker"}
    return CreateJob(session_id=SESSION, items=items, **{**given, **rest})


def begun(*inputs: str, **rest: Any) -> Team:
    """A lead that has answered, and a job under way."""
    given = board()
    given.when(job(*inputs, **rest))
    return given


def again(item: str | None = None, **rest: Any) -> RetryJobItem:
    return RetryJobItem(session_id=SESSION, job_id=JOB, item_id=item, **rest)


def retried_job() -> Team:
    """A job whose only item failed and is tried again."""
    given = begun("alpha")
    given.fails("worker-1")
    given.when(again())
    return given
