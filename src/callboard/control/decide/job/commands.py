"""Commands on jobs (Control plane specification, Jobs).

A job is a task, and its items are the subtasks. Children outside of any conversation work on a
limited number of items in parallel.
"""

from __future__ import annotations

from callboard.contracts.commands.job import CancelJob, CreateJob, JobChanged, PauseJob, ResumeJob, RetryJobItem

from ...batch import Batch
from .control import cancel_job, pause_job, resume_job
from .create import create_job
from .retry_item import retry_items

JobCommand = CreateJob | CancelJob | PauseJob | ResumeJob | RetryJobItem


def decide_job(batch: Batch, request: JobCommand) -> JobChanged:
    """Decide a command on a job. Raises what its decider raises."""
    match request:
        case CreateJob():
            return create_job(batch, request)
        case CancelJob():
            return cancel_job(batch, request)
        case PauseJob():
            return pause_job(batch, request)
        case ResumeJob():
            return resume_job(batch, request)
        case RetryJobItem():
            return retry_items(batch, request)
