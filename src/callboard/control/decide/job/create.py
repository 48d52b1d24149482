"""Creation of jobs."""

from __future__ import annotations

import msgspec

from callboard.contracts.commands.job import CreateJob, JobChanged
from callboard.contracts.content import MAX_INLINE_BYTES, Text
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.job import JobCreated
from callboard.contracts.facts.task import TaskCreated, TaskStarted
from callboard.contracts.scope import Scope

from ...batch import Batch
from ...input_text import make_title
from ..agent.join import begin_session
from .start_items import settle_jobs
from .status import build_job_answer
from .workers import check_worker, choose_mode, require_worker


def create_job(batch: Batch, request: CreateJob) -> JobChanged:
    """Begin a job, in a new session if the request names none.

    Raises:
        Refusal: `unknown_agent`, `delegate_target_denied`, `message_too_large`, and the codes of
            `configure_run` for its first worker.
    """
    permission_mode = choose_mode(batch, request.permission_mode)
    if batch.state.sequence == 0:
        begin_session(batch, request.title, "auto", permission_mode)
    definition = require_worker(batch, request.agent)
    check_worker(batch, definition, permission_mode)
    job, job_task = batch.inputs.ids.new("job"), batch.inputs.ids.new("task")
    scope = Scope(task=job_task, job=job)
    batch.add(
        TaskCreated(
            title=request.title,
            objective=_inline_text(request.instructions, "instructions"),
            assignee=definition.name,
            entity="automation_job",
        ),
        scope,
    )
    batch.add(
        JobCreated(
            agent=definition.name,
            items=len(request.items),
            parallel=request.parallel or 0,
            isolation=request.isolation,
            permission_mode=permission_mode,
            chosen=request.permission_mode is not None,
        ),
        scope,
    )
    batch.add(
        TaskStarted(assignee=definition.name, reason="its items are worked on"),
        msgspec.structs.replace(scope, attempt=1),
    )
    item_ids: list[str] = []
    for item in request.items:
        item_id = batch.inputs.ids.new("task")
        batch.add(
            TaskCreated(
                title=item.title or make_title(item.input),
                objective=_inline_text(item.input, f"items[{len(item_ids)}].input"),
                parent_task=job_task,
            ),
            Scope(task=item_id, job=job),
        )
        item_ids.append(item_id)
    settle_jobs(batch)
    return build_job_answer(batch, batch.state.jobs[job], tuple(item_ids))


def _inline_text(text: str, field: str) -> Text:
    """Return a text that its fact stores whole, for the instructions of every attempt."""
    if len(text.encode()) > MAX_INLINE_BYTES:
        raise Refusal(
            "message_too_large",
            f"The instructions and each item of a job can have at most {MAX_INLINE_BYTES:,} bytes.",
            field=field,
            hint="Write long content to a file, and name it.",
        )
    return Text(text=text)
