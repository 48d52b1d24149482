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
from callboard.contracts.content import LARGEST_INLINE, Text
from callboard.contracts.errors import Refusal
from callboard.contracts.facts import (
    JobCreated,
    JobItemRetried,
    SnapshotUpdated,
    TaskCancelled,
    TaskCompleted,
    TaskCreated,
    TaskFailed,
    TaskPaused,
    TaskStarted,
)
from callboard.contracts.scope import Scope

from ...batch import Batch
from ...state.session import OpenJob, OpenTask, Session
from ...task_status import list_parts, task_run, task_scope
from ..subagent import ending
from ..subagent.child_scope import ENDED
from ..subagent.session_start import begin_session
from ..task import control
from ..turn.titles import title_of
from . import workers

JobCommand = CreateJob | CancelJob | PauseJob | ResumeJob | RetryJobItem


def answer(batch: Batch, request: JobCommand) -> JobChanged:
    """Carries the command out. Raises what its decider raises."""
    match request:
        case CreateJob():
            return create(batch, request)
        case CancelJob():
            return cancel(batch, request)
        case PauseJob():
            job, whole = _going(batch.state, request.job_id)
            if whole.paused:
                raise Refusal(
                    "task_paused", "The job is paused already.", field="jobId", hint="resume_job lets it go on."
                )
            control.pause_task(batch, PauseTask(session_id=request.session_id, task_id=job.task, reason=request.reason))
            return _changed(batch, job)
        case ResumeJob():
            job, whole = _going(batch.state, request.job_id)
            if not whole.paused:
                raise Refusal(
                    "task_not_paused", "The job is not paused.", field="jobId", hint="get_job tells how it stands."
                )
            control.resume_task(
                batch, ResumeTask(session_id=request.session_id, task_id=job.task, reason=request.reason)
            )
            return _changed(batch, job)
        case RetryJobItem():
            return retry(batch, request)


def create(batch: Batch, request: CreateJob) -> JobChanged:
    """Begins a job, and a session where it is given none. Raises `unknown_agent`, `delegate_target_denied` where the agent is
    no subagent, and what the setup of its first worker raises."""
    permission_mode = workers.choose_mode(batch, request.permission_mode)
    if batch.state.sequence == 0:
        begin_session(batch, request.title, "auto", permission_mode)
    definition = workers.require_worker(batch, request.agent)
    workers.check_worker(batch, definition, permission_mode)
    job, task = batch.inputs.ids.new("job"), batch.inputs.ids.new("task")
    scope = Scope(task=task, job=job)
    batch.add(
        TaskCreated(
            title=request.title,
            objective=_inline(request.instructions, "instructions"),
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
    items: list[str] = []
    for given in request.items:
        item = batch.inputs.ids.new("task")
        batch.add(
            TaskCreated(
                title=given.title or title_of(given.input),
                objective=_inline(given.input, f"items[{len(items)}].input"),
                parent_task=task,
            ),
            Scope(task=item, job=job),
        )
        items.append(item)
    settle(batch)
    return _changed(batch, batch.state.jobs[job], tuple(items))


def cancel(batch: Batch, request: CancelJob) -> JobChanged:
    """Asks for the end of a job: the intent first, then what is open of its items. Raises `unknown_job`."""
    job = open_job(batch.state, request.job_id)
    open_items = tuple(one.task for one in items_of(batch.state, job))
    control.cancel_task(batch, None, job.task, request.reason or "its job was cancelled")
    return _changed(batch, job, open_items, "cancelling")


def retry(batch: Batch, request: RetryJobItem) -> JobChanged:
    """Asks for another attempt of items that failed. Raises `unknown_job`, `unknown_task` for an item of another job,
    `job_item_done` for one that is over, `task_running`, `task_not_ready` where nothing failed, `task_paused`."""
    job, whole = _going(batch.state, request.job_id)
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
        batch.add(JobItemRetried(reason=request.reason), task_scope(batch.state, item))
    settle(batch)
    return _changed(batch, job, tuple(one.task for one in chosen))


def settle(batch: Batch) -> None:
    """Begins what has room and says which jobs are over."""
    for job in list(batch.state.jobs.values()):
        whole = batch.state.tasks.get(job.task)
        if whole is None or whole.paused or whole.cancelling:
            continue
        if not batch.inputs.is_archived:
            _go_on(batch, job)
        elif any(map(_ready, items_of(batch.state, job))):
            # Nothing of a session that is archived begins; taken out of the archive, its jobs are there to be resumed.
            batch.add(TaskPaused(reason="the session was archived"), task_scope(batch.state, whole))
            continue
        _over(batch, job)
    _let_go(batch)


def hold(batch: Batch) -> None:
    """The process that ran the jobs ended, or ends: each waits, with what it was at, until somebody resumes it."""
    for job in batch.state.jobs.values():
        whole = batch.state.tasks.get(job.task)
        if whole is None or whole.cancelling:
            continue
        for one in (whole, *list_parts(batch.state, whole.task)):
            if not one.paused and not one.cancelling:
                batch.add(TaskPaused(reason="the process that ran it ended"), task_scope(batch.state, one))


def open_job(state: Session, name: str) -> OpenJob:
    """The job. Raises `unknown_job` for one that is over or never was."""
    job = state.jobs.get(name)
    if job is None:
        raise Refusal(
            "unknown_job", f"There is no job {name} that is still open.", field="jobId", hint="get_job tells of it."
        )
    return job


def _going(state: Session, name: str) -> tuple[OpenJob, OpenTask]:
    """The job with its own task. Raises `unknown_job`, also for one that is being cancelled."""
    job = open_job(state, name)
    whole = state.tasks[job.task]
    if whole.cancelling:
        raise Refusal(
            "unknown_job", f"The job {name} is being cancelled.", field="jobId", hint="create_job begins another one."
        )
    return job, whole


def items_of(state: Session, job: OpenJob) -> list[OpenTask]:
    """The items that are not over, in their order."""
    return [one for one in state.tasks.values() if one.job == job.job and one.task != job.task]


def _inline(text: str, field: str) -> Text:
    """A text that stands in its fact whole, so that every attempt can be told it."""
    if len(text.encode()) > LARGEST_INLINE:
        raise Refusal(
            "message_too_large",
            f"Instructions and items of a job have at most {LARGEST_INLINE:,} bytes each.",
            field=field,
            hint="Write what is long to a file, and name it.",
        )
    return Text(text=text)


def _failed(batch: Batch, job: OpenJob, name: str) -> OpenTask:
    item = batch.state.tasks.get(name)
    if item is None and name in batch.inputs.closed_ids:
        raise Refusal(
            "job_item_done",
            f"The item {name} is over: it is done or was cancelled, and is not worked on again.",
            field="itemId",
            hint="get_job tells what it came to.",
        )
    if item is None or item.job != job.job or item.task == job.task:
        raise Refusal("unknown_task", f"The job {job.job} has no open item {name}.", field="itemId")
    if item.work == "running":
        raise Refusal("task_running", f"The item {name} is at work.", field="itemId", hint="Wait for it.")
    missing = [one for one in item.depends_on if one not in item.done_dependencies]
    if item.work != "over":
        waits, hint = "its turn", "Wait for it."
        if missing:
            waits, hint = ", ".join(missing), "unlink_tasks takes away what it waits for, cancel_task the item."
        raise Refusal("task_not_ready", f"The item {name} waits for {waits}.", field="itemId", hint=hint)
    if item.paused:
        raise Refusal("task_paused", f"The item {name} is paused.", field="itemId", hint="resume_task lets it go on.")
    return item


def _go_on(batch: Batch, job: OpenJob) -> None:
    items = items_of(batch.state, job)
    most = min(job.parallel or batch.inputs.team_budget, batch.inputs.team_budget)
    room = most - sum(_takes_room(batch, one) for one in items)
    for item in items:
        if room <= 0:
            return
        if _ready(item):
            room -= workers.begin_item(batch, job, item)


def _let_go(batch: Batch) -> None:
    """What worked on a job that is over works on nothing any more; what is in a worktree waits to be merged."""
    for thread in list(batch.state.threads.values()):
        child = thread.child
        if child is None or not child.job or child.job in batch.state.jobs or child.worktree or thread.run is not None:
            continue
        if child.status in ENDED:
            ending.end_child(batch, thread, child, "closed", "its job is over")


def _takes_room(batch: Batch, item: OpenTask) -> bool:
    return item.work == "running" and not (item.paused and task_run(batch.state, item) is None)


def _ready(item: OpenTask) -> bool:
    return (
        not item.work
        and not item.paused
        and not item.cancelling
        and set(item.depends_on) <= set(item.done_dependencies)
    )


def _over(batch: Batch, job: OpenJob) -> None:
    """A job is over once all of its items are; where what is left of them failed it has failed, until they are tried again."""
    items, whole = items_of(batch.state, job), batch.state.tasks[job.task]
    at = task_scope(batch.state, whole)
    failed = sum(one.work == "over" for one in items)
    if failed < len(items):
        if whole.work == "over":
            again = msgspec.structs.replace(at, attempt=whole.attempt + 1)
            batch.add(TaskStarted(assignee=job.agent, reason="items of it are tried again"), again)
        return
    done = f"{batch.state.jobs[job.job].done} of {job.items} items are done"
    if not items and not batch.state.jobs[job.job].done:
        batch.add(TaskCancelled(reason="all of its items were cancelled"), at)
    elif not items:
        batch.add(TaskCompleted(summary=done, refs=whole.refs), at)
    elif whole.work != "over":
        batch.add(TaskFailed(code="items_failed", message=f"{done}, {failed} failed"), at)
    else:
        return
    batch.add(SnapshotUpdated(through=batch.state.sequence), at)


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
