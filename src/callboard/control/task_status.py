"""Status of tasks and their workers."""

from __future__ import annotations

from callboard.contracts.commands.task import TaskChanged
from callboard.contracts.entities.team import TaskStatus
from callboard.contracts.errors import Refusal
from callboard.contracts.scope import Scope

from .batch import Batch
from .state.session import Session, Thread
from .state.subagent import Child
from .state.task import OpenTask
from .state.turn import OpenRun


def require_task(batch: Batch, task_id: str, field: str = "taskId") -> OpenTask:
    """Return the open task.

    Raises:
        Refusal: `unknown_task`.
    """
    task = batch.state.tasks.get(task_id)
    if task is None:
        raise build_unknown_task(task_id, field, has_ended=task_id in batch.inputs.closed_ids)
    return task


def build_unknown_task(task_id: str, field: str = "taskId", *, has_ended: bool = False) -> Refusal:
    """Return the refusal of a task that the session does not have, or that has ended."""
    return Refusal(
        "unknown_task",
        f"The task {task_id} has ended." if has_ended else f"There is no open task {task_id}.",
        field=field,
        hint="Find tasks with list_tasks.",
    )


def refuse_job_task(task: OpenTask) -> None:
    """Refuse a change of a job's item: the job decides when items begin and what they belong to.

    Raises:
        Refusal: `task_of_job`.
    """
    if task.job:
        raise Refusal(
            "task_of_job",
            f"The task {task.task} is an item of a job.",
            field="taskId",
            hint="Use retry_job_item, pause_job, resume_job or cancel_job.",
        )


def build_task_answer(batch: Batch, name: str, status: TaskStatus | None = None) -> TaskChanged:
    """Return the answer with the task's present status."""
    return TaskChanged(
        session_id=batch.state.session,
        task_id=name,
        status=status or _derive_status(batch.state, name),
        sequence=batch.state.sequence,
    )


def build_task_scope(state: Session, task: OpenTask) -> Scope:
    """Return the scope of a fact about the task, its newest attempt and its worker."""
    thread = find_task_thread(state, task)
    worker = find_task_worker(state, task)
    return Scope(
        agent=thread.agent if thread is not None else "",
        thread=thread.thread if thread is not None else "",
        run=task.run,
        task=task.task,
        attempt=task.attempt,
        job=task.job,
        parent_thread=worker[1].parent if worker is not None else "",
        parent_run=worker[1].parent_run if worker is not None else "",
    )


def find_task_worker(state: Session, task: OpenTask) -> tuple[Thread, Child] | None:
    """Return the child that has this task; None for another agent's task."""
    thread = state.threads.get(task.thread)
    if thread is None or thread.child is None or thread.child.task != task.task:
        return None
    return thread, thread.child


def find_task_thread(state: Session, task: OpenTask) -> Thread | None:
    """Return the thread of the agent that works on the task. For the task of a background agent,
    return its thread also while it sleeps."""
    if task.entity != "automation_job":
        return state.threads.get(task.thread)
    jobs = (state.threads.get(name) for name in state.sleepers)
    return next(
        (
            sleeper
            for sleeper in jobs
            if sleeper is not None and sleeper.background is not None and sleeper.background.task == task.task
        ),
        None,
    )


def find_task_run(state: Session, task: OpenTask) -> tuple[Thread, OpenRun] | None:
    """Return the open run that works on the task, with its thread. An agent that delegated subtasks
    works on it in a run that their reports woke. A background agent works on it in a run that it
    woke for."""
    thread = find_task_thread(state, task)
    run = thread.run if thread is not None else None
    if thread is None or run is None:
        return None
    is_its_run = find_task_worker(state, task) is not None or run.turn == task.turn or (task.delegated and run.woken)
    if thread.background is not None and thread.background.task == task.task:
        is_its_run = is_its_run or run.turn == thread.background.turn
    return (thread, run) if is_its_run else None


def is_at_work(state: Session, task: OpenTask) -> bool:
    """Return True while an attempt is in progress: it runs or waits, one of its subtasks does, or a
    person works on it. An interrupted child is not at work until it is resumed or retried."""
    worker = find_task_worker(state, task)
    if worker is None:
        return find_task_run(state, task) is not None or (task.work == "running" and _is_continuing(state, task))
    thread, child = worker
    if thread.run is not None or child.status in ("queued", "running"):
        return True
    return child.status == "waiting" and not was_stopped(thread)


def _is_continuing(state: Session, task: OpenTask) -> bool:
    thread = find_task_thread(state, task)
    if thread is None or thread.kind == "human":
        return True
    queued = any(task.task == queued_turn.task or task.turn == queued_turn.turn for queued_turn in thread.queue)
    return queued or any(part.work == "running" for part in list_subtasks(state, task.task))


def check_may_end(state: Session, by: Thread, task: OpenTask) -> None:
    """Check that the agent may end the task with its subtasks: its own work, its children's, and
    work that no agent has begun.

    Raises:
        Refusal: `not_your_child`.
    """
    for subtask in (task, *list_subtasks(state, task.task)):
        if subtask.job:
            raise Refusal(
                "not_your_child",
                f"The task {subtask.task} is an item of a job.",
                field="taskId",
                hint="Its job ends it.",
            )
        worker = find_task_thread(state, subtask)
        busy = (
            subtask.work == "running" or subtask.entity == "automation_job" or find_task_run(state, subtask) is not None
        )
        if worker is None or not busy or worker.thread == by.thread:
            continue
        if worker.child is None or worker.child.parent != by.thread:
            raise Refusal(
                "not_your_child",
                f"Another agent works on the task {subtask.task}.",
                field="taskId",
                hint="Ask that agent to end it with send_message.",
            )


def was_stopped(thread: Thread) -> bool:
    """Return True if the newest turn of an idle agent was interrupted."""
    return thread.run is None and thread.ended is not None and thread.ended.how == "interrupted"


def list_subtasks(state: Session, task: str) -> list[OpenTask]:
    """Return the open subtasks of the task, at any depth, parents first."""
    subtasks: dict[str, OpenTask] = {}
    parents = {task}
    while parents:
        children = [
            other for other in state.tasks.values() if other.parent_task in parents and other.task not in subtasks
        ]
        subtasks |= {subtask.task: subtask for subtask in children}
        parents = {subtask.task for subtask in children}
    subtasks.pop(task, None)
    return list(subtasks.values())


def list_prerequisites(state: Session, task: str) -> set[str]:
    """Return all tasks that must end before this one: its dependencies and subtasks, and theirs."""
    prerequisites: set[str] = set()
    pending = {task}
    while pending:
        added = {name for task_id in pending if (at := state.tasks.get(task_id)) is not None for name in at.depends_on}
        added |= {other.task for other in state.tasks.values() if other.parent_task in pending}
        pending = added - prerequisites
        prerequisites |= added
    return prerequisites


def build_cycle_refusal(task: str, other: str, field: str) -> Refusal:
    """Return the refusal of a link that would make two tasks wait for each other."""
    return Refusal(
        "invalid_input",
        f"The tasks {task} and {other} would wait for each other.",
        field=field,
        hint="Remove a link with unlink_tasks.",
    )


def _derive_status(state: Session, name: str) -> TaskStatus:
    task = state.tasks.get(name)
    if task is None:
        return "done"
    if task.paused or task.work == "over":
        return "blocked"
    if task.work == "running":
        return "running"
    return "claimed" if task.assignee else "open"
