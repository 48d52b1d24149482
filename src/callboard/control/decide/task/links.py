"""Links of tasks: parent, dependencies and refs, without cycles."""

from __future__ import annotations

from callboard.contracts.commands.task import LinkTasks, TaskChanged, UnlinkTasks
from callboard.contracts.facts.task import TaskUpdated

from ...batch import Batch
from ...state.task import OpenTask
from ...task_status import (
    build_cycle_refusal,
    build_task_answer,
    build_task_scope,
    list_prerequisites,
    refuse_job_task,
    require_task,
)
from .board import merge_refs


def link_tasks(batch: Batch, request: LinkTasks) -> TaskChanged:
    """Add links.

    Raises:
        Refusal: `unknown_task`, and `invalid_input` for a cycle.
    """
    task = require_task(batch, request.task_id)
    for name in request.depends_on:
        require_task(batch, name, "dependsOn")
        if name == task.task or task.task in list_prerequisites(batch.state, name):
            raise build_cycle_refusal(task.task, name, "dependsOn")
    parent = request.parent_task
    if parent is not None:
        refuse_job_task(task)
        require_task(batch, parent, "parentTask")
        if parent == task.task or parent in list_prerequisites(batch.state, task.task):
            raise build_cycle_refusal(parent, task.task, "parentTask")
        if any(parent in list_prerequisites(batch.state, name) or parent == name for name in request.depends_on):
            raise build_cycle_refusal(task.task, parent, "dependsOn")
    depends_on = tuple(dict.fromkeys((*task.depends_on, *request.depends_on)))
    return _record_links(
        batch,
        task,
        depends_on=depends_on if depends_on != task.depends_on else None,
        parent=parent if parent != task.parent_task else None,
        changed=TaskUpdated(refs=merge_refs(task, request.refs) if request.refs else None, reason=request.reason),
    )


def unlink_tasks(batch: Batch, request: UnlinkTasks) -> TaskChanged:
    """Remove links; a missing link is ignored.

    Raises:
        Refusal: `unknown_task`.
    """
    task = require_task(batch, request.task_id)
    if request.parent:
        refuse_job_task(task)
    depends_on = tuple(name for name in task.depends_on if name not in request.depends_on)
    refs = tuple(ref for ref in task.refs if ref not in request.refs)
    return _record_links(
        batch,
        task,
        depends_on=depends_on if depends_on != task.depends_on else None,
        parent="" if request.parent and task.parent_task else None,
        changed=TaskUpdated(refs=refs if refs != task.refs else None, reason=request.reason),
    )


def _record_links(
    batch: Batch, task: OpenTask, *, depends_on: tuple[str, ...] | None, parent: str | None, changed: TaskUpdated
) -> TaskChanged:
    if depends_on is not None or parent is not None or changed.refs is not None:
        fact = TaskUpdated(depends_on=depends_on, parent_task=parent, refs=changed.refs, reason=changed.reason)
        batch.add(fact, build_task_scope(batch.state, task))
    return build_task_answer(batch, task.task)
