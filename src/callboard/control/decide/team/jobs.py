"""Jobs: durable work in batches (Control plane specification, Jobs). A job is a task whose parts are its items; a child works
on each, apart from any conversation, and so many at once. What goes on derives from the state alone."""

from __future__ import annotations

import msgspec

from callboard.contracts.commands.jobs import (
    CancelJob,
    CreateJob,
    JobChanged,
    JobStatus,
    PauseJob,
    ResumeJob,
    RetryJobItem,
)
from callboard.contracts.commands.tasks import PauseTask, ResumeTask
from callboard.contracts.errors import Refusal
from callboard.contracts.facts import (
    JobCreated,
    JobItemRetried,
    SnapshotUpdated,
    TaskCompleted,
    TaskCreated,
    TaskFailed,
    TaskPaused,
    TaskStarted,
)
from callboard.contracts.scope import Scope

from ...batch import Batch
from ...state import OpenJob, OpenTask, Session
from ..titles import title_of
from . import jobwork, taskstops
from .beginning import begin
from .taskstate import parts_of, scope_of

JobCommand = CreateJob | CancelJob | PauseJob | ResumeJob | RetryJobItem


def answer(batch: Batch, request: JobCommand) -> JobChanged:
    """Carries the command out. Raises what its decider raises."""
    match request:
        case CreateJob():
            return create(batch, request)
        case CancelJob():
            return cancel(batch, request)
        case PauseJob():
            job = open_job(batch.state, request.job_id)
            if batch.state.tasks[job.task].paused:
                raise Refusal(
                    "task_paused", "The job is paused already.", field="jobId", hint="resume_job lets it go on."
                )
            taskstops.pause(batch, PauseTask(session_id=request.session_id, task_id=job.task, reason=request.reason))
            return _changed(batch, job)
        case ResumeJob():
            job = open_job(batch.state, request.job_id)
            if not batch.state.tasks[job.task].paused:
                raise Refusal("task_not_paused", "The job is not paused.", field="jobId")
            taskstops.resume(batch, ResumeTask(session_id=request.session_id, task_id=job.task, reason=request.reason))
            return _changed(batch, job)
        case RetryJobItem():
            return retry(batch, request)


def create(batch: Batch, request: CreateJob) -> JobChanged:
    """Begins a job, and a session where it is given none. Raises `unknown_agent`, `delegate_target_denied` where the agent is
    no subagent, and what the setup of its first worker raises."""
    permission_mode = jobwork.mode_of(batch, request.permission_mode)
    if batch.state.sequence == 0:
        begin(batch, request.title, "auto", permission_mode)
    definition = jobwork.worker(batch, request.agent)
    jobwork.may_work(batch, definition, permission_mode)
    job, task = batch.known.ids.new("job"), batch.known.ids.new("task")
    scope = Scope(task=task, job=job)
    batch.say(
        TaskCreated(
            title=request.title,
            objective=batch.hold(request.instructions),
            assignee=definition.name,
            entity="automation_job",
        ),
        scope,
    )
    batch.say(
        JobCreated(
            agent=definition.name,
            items=len(request.items),
            parallel=request.parallel or 0,
            isolation=request.isolation,
            permission_mode=permission_mode,
        ),
        scope,
    )
    batch.say(
        TaskStarted(assignee=definition.name, reason="its items are worked on"),
        msgspec.structs.replace(scope, attempt=1),
    )
    items: list[str] = []
    for given in request.items:
        item = batch.known.ids.new("task")
        told = "\n\n".join(part for part in (request.instructions.strip(), given.input) if part)
        batch.say(
            TaskCreated(title=given.title or title_of(given.input), objective=batch.hold(told), parent_task=task),
            Scope(task=item, job=job),
        )
        items.append(item)
    settle(batch)
    return _changed(batch, batch.state.jobs[job], tuple(items))


def cancel(batch: Batch, request: CancelJob) -> JobChanged:
    """Asks for the end of a job: the intent first, then what is open of its items. Raises `unknown_job`."""
    job = open_job(batch.state, request.job_id)
    open_items = tuple(one.task for one in items_of(batch.state, job))
    taskstops.cancel(batch, None, job.task, request.reason or "its job was cancelled")
    return _changed(batch, job, open_items, "cancelling")


def retry(batch: Batch, request: RetryJobItem) -> JobChanged:
    """Asks for another attempt of items that failed. Raises `unknown_job`, `unknown_task` for an item of another job,
    `job_item_done` for one that is over, `task_running`, `task_not_ready` where nothing failed, `task_paused`."""
    job = open_job(batch.state, request.job_id)
    whole = batch.state.tasks[job.task]
    if whole.cancelling:
        raise Refusal("unknown_job", f"The job {job.job} is being cancelled.", field="jobId")
    if whole.paused:
        raise Refusal("task_paused", "The job is paused.", field="jobId", hint="resume_job lets it go on.")
    if request.item_id is not None:
        chosen = [_failed(batch, job, request.item_id)]
    else:
        chosen = [one for one in items_of(batch.state, job) if one.work == "over" and not one.paused]
    if not chosen:
        raise Refusal(
            "task_not_ready", "No item of the job failed.", field="jobId", hint="get_job tells how they stand."
        )
    for item in chosen:
        batch.say(JobItemRetried(reason=request.reason), scope_of(batch.state, item))
    settle(batch)
    return _changed(batch, job, tuple(one.task for one in chosen))


def settle(batch: Batch) -> None:
    """Begins what has room and says which jobs are over."""
    for job in list(batch.state.jobs.values()):
        whole = batch.state.tasks.get(job.task)
        if whole is not None and not (whole.paused or whole.cancelling or batch.known.archived):
            _go_on(batch, job)
            _over(batch, job)


def hold(batch: Batch) -> None:
    """The process that ran the jobs ended, or ends: each waits, with what it was at, until somebody resumes it."""
    for job in batch.state.jobs.values():
        whole = batch.state.tasks.get(job.task)
        if whole is None or whole.paused or whole.cancelling:
            continue
        for one in (whole, *parts_of(batch.state, whole.task)):
            if not one.paused and not one.cancelling:
                batch.say(TaskPaused(reason="the process that ran it ended"), scope_of(batch.state, one))


def open_job(state: Session, name: str) -> OpenJob:
    """The job. Raises `unknown_job` for one that is over or never was."""
    job = state.jobs.get(name)
    if job is None:
        raise Refusal(
            "unknown_job", f"There is no job {name} that is still open.", field="jobId", hint="get_job tells of it."
        )
    return job


def items_of(state: Session, job: OpenJob) -> list[OpenTask]:
    """The items that are not over, in their order."""
    return [one for one in state.tasks.values() if one.job == job.job and one.task != job.task]


def _failed(batch: Batch, job: OpenJob, name: str) -> OpenTask:
    item = batch.state.tasks.get(name)
    if item is None and name in batch.known.closed:
        raise Refusal(
            "job_item_done",
            f"The item {name} is over: what it came to stays, and is not made again.",
            field="itemId",
            hint="get_job tells what it came to.",
        )
    if item is None or item.job != job.job or item.task == job.task:
        raise Refusal("unknown_task", f"The job {job.job} has no open item {name}.", field="itemId")
    if item.work == "running":
        raise Refusal("task_running", f"The item {name} is at work.", field="itemId", hint="Wait for it.")
    if item.work != "over":
        raise Refusal("task_not_ready", f"The item {name} waits for its turn.", field="itemId", hint="Wait for it.")
    return item


def _go_on(batch: Batch, job: OpenJob) -> None:
    items = items_of(batch.state, job)
    room = (job.parallel or batch.known.team_budget) - sum(one.work == "running" for one in items)
    for item in items:
        if room <= 0:
            return
        if _ready(item):
            room -= jobwork.begin(batch, job, item)


def _ready(item: OpenTask) -> bool:
    return not item.work and not item.paused and not item.cancelling and set(item.depends_on) <= set(item.met)


def _over(batch: Batch, job: OpenJob) -> None:
    """A job is over once all of its items are; where what is left of them failed it has failed, until they are tried again."""
    items, whole = items_of(batch.state, job), batch.state.tasks[job.task]
    at = scope_of(batch.state, whole)
    failed = sum(one.work == "over" for one in items)
    if failed < len(items):
        if whole.work == "over":
            again = msgspec.structs.replace(at, attempt=whole.attempt + 1)
            batch.say(TaskStarted(assignee=job.agent, reason="items of it are tried again"), again)
        return
    done = f"{batch.state.jobs[job.job].done} of {job.items} items are done"
    if not items:
        batch.say(TaskCompleted(summary=done, refs=whole.refs), at)
    elif whole.work != "over":
        batch.say(TaskFailed(code="items_failed", message=f"{done}, {failed} failed"), at)
    else:
        return
    batch.say(SnapshotUpdated(through=batch.state.sequence), at)


def _changed(batch: Batch, job: OpenJob, items: tuple[str, ...] = (), status: JobStatus | None = None) -> JobChanged:
    return JobChanged(
        session_id=batch.state.session,
        job_id=job.job,
        task_id=job.task,
        status=status or _status(batch.state.tasks.get(job.task)),
        items=items,
        sequence=batch.state.sequence,
    )


def _status(whole: OpenTask | None) -> JobStatus:
    if whole is None:
        return "completed"
    if whole.cancelling:
        return "cancelling"
    if whole.paused:
        return "paused"
    return "failed" if whole.work == "over" else "running"
