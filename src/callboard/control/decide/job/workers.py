"""Workers of a job's items: children of the lead that work for a person. They report to the job;
the lead cannot stop them."""

from __future__ import annotations

from callboard.contracts.commands.subagent import SpawnArguments
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.task import TaskFailed, TaskStarted
from callboard.contracts.facts.turn import PermissionMode
from callboard.contracts.ports.agents import Definition
from callboard.contracts.scope import Scope

from ...batch import Batch
from ...decision_inputs import limit_carried_mode, narrow_mode
from ...state.job import OpenJob
from ...state.session import Thread
from ...state.task import OpenTask
from ..agent.addressing import require_subagent, resolve_modes
from ..subagent.spawn import BoardTask, spawn_child
from ..task import attempts
from ..turn.sleep import choose_work_mode


def require_worker(batch: Batch, name: str | None) -> Definition:
    """Return the definition of a job's workers: the named subagent, or the only one in the folder.

    Raises:
        Refusal: `unknown_agent`, `delegate_target_denied`.
    """
    if name is not None:
        return require_subagent(batch, name)
    definitions = [
        definition
        for definition in map(batch.inputs.find_definition, batch.inputs.list_definition_names())
        if definition is not None and definition.kind == "subagent"
    ]
    if len(definitions) != 1:
        names = ", ".join(definition.name for definition in definitions)
        raise Refusal(
            "unknown_agent",
            "Name the subagent that works on the items."
            if definitions
            else "The folder has no subagent for the items.",
            field="agent",
            hint=f"There are: {names}." if definitions else "Define one in agents/ with `kind: subagent`.",
        )
    return definitions[0]


def choose_mode(batch: Batch, requested: PermissionMode | None) -> PermissionMode:
    """Return the workers' permission mode: the person's choice, else the lead's, else the default
    of a new session."""
    lead = batch.state.threads.get(batch.state.lead)
    if requested is not None or lead is None or (lead.run is None and lead.last is None):
        return requested or batch.inputs.default_mode
    return limit_carried_mode(batch.inputs, resolve_modes(batch, lead).permission_mode)


def check_worker(batch: Batch, definition: Definition, permission_mode: PermissionMode) -> None:
    """Check that a worker can be configured. Raises what `configure_run` raises."""
    batch.inputs.configure_run(
        definition.name, choose_work_mode(definition), narrow_mode(permission_mode, definition.permission_mode)
    )


def begin_item(batch: Batch, job: OpenJob, item: OpenTask) -> bool:
    """Begin the next attempt of an item. The child that worked on it continues, otherwise a new
    child is made. Return False if the attempt failed to begin."""
    before = batch.mark()
    try:
        thread = batch.state.threads.get(item.thread)
        if thread is not None and _is_working_on(thread, item):
            attempts.retry_with_worker(batch, item, thread)
        else:
            _start_new_child(batch, job, item)
        return True
    except Refusal as refusal:
        batch.roll_back(before)
        scope = Scope(task=item.task, job=job.job, attempt=item.attempt + 1)
        batch.add(TaskStarted(assignee=job.agent), scope)
        batch.add(TaskFailed(code=refusal.code, message=refusal.problem.message), scope)
        return False


def _is_working_on(thread: Thread, item: OpenTask) -> bool:
    """Return True for the child whose newest task is this item."""
    return thread.child is not None and thread.child.task == item.task


def _start_new_child(batch: Batch, job: OpenJob, item: OpenTask) -> None:
    request = SpawnArguments(
        agent=job.agent,
        objective=item.title or item.task,
        title=item.title,
        isolation=job.isolation,
    )
    instructions = attempts.format_instructions(batch, item, is_retry=item.attempt > 0)
    spawn_child(
        batch,
        batch.get_thread(batch.state.lead),
        request,
        BoardTask(item.task, item.attempt + 1, instructions, "", job),
    )
