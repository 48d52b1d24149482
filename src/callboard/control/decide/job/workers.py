"""Who works on the items of a job: children of the lead, for a person and not for the lead. They are told of by their job, and
what the lead does or is stopped from doing does not concern them."""

from __future__ import annotations

from callboard.contracts.commands.team import Spawn
from callboard.contracts.errors import Refusal
from callboard.contracts.facts import TaskFailed, TaskStarted
from callboard.contracts.facts.turn import PermissionMode
from callboard.contracts.ports.agents import Definition
from callboard.contracts.scope import Scope

from ...batch import Batch
from ...decision_inputs import limit_carried_mode, narrow_mode
from ...state.session import OpenJob, OpenTask, Thread
from ..agent.addressing import require_subagent, resolve_modes
from ..subagent.spawn import BoardTask, spawn_child
from ..task import attempts
from ..turn.sleep import work_mode


def require_worker(batch: Batch, name: str | None) -> Definition:
    """The definition of the children that work on a job: the subagent of that name, or the only one that there is. Raises
    `unknown_agent`, `delegate_target_denied`."""
    if name is not None:
        return require_subagent(batch, name)
    found = [
        one
        for one in map(batch.inputs.find_definition, batch.inputs.list_definition_names())
        if one is not None and one.kind == "subagent"
    ]
    if len(found) != 1:
        there = ", ".join(one.name for one in found)
        raise Refusal(
            "unknown_agent",
            "Say which subagent works on the items." if found else "The folder has no subagent to work on the items.",
            field="agent",
            hint=f"There are: {there}." if found else "A file in agents/ with `kind: subagent` defines one.",
        )
    return found[0]


def choose_mode(batch: Batch, asked: PermissionMode | None) -> PermissionMode:
    """The mode that a job's workers are under: the one that its person chose, else the lead's, and in a new session the usual
    one."""
    lead = batch.state.threads.get(batch.state.lead)
    if asked is not None or lead is None or (lead.run is None and lead.last is None):
        return asked or batch.inputs.default_mode
    return limit_carried_mode(batch.inputs, resolve_modes(batch, lead).permission_mode)


def check_worker(batch: Batch, definition: Definition, permission_mode: PermissionMode) -> None:
    """Raises what the setup of a worker raises."""
    batch.inputs.configure_run(
        definition.name, work_mode(definition), narrow_mode(permission_mode, definition.permission_mode)
    )


def begin_item(batch: Batch, job: OpenJob, item: OpenTask) -> bool:
    """Begins the next attempt of an item: the child that worked on it goes on, so that what it did is not done again; else a
    new one is made. One that cannot begin has failed. Returns whether it is at work."""
    before = batch.mark()
    try:
        thread = batch.state.threads.get(item.thread)
        if thread is not None and _knows(thread, item):
            attempts.retry_with_worker(batch, item, thread)
        else:
            _to_new_child(batch, job, item)
        return True
    except Refusal as refusal:
        batch.roll_back(before)
        scope = Scope(task=item.task, job=job.job, attempt=item.attempt + 1)
        batch.add(TaskStarted(assignee=job.agent), scope)
        batch.add(TaskFailed(code=refusal.code, message=refusal.problem.message), scope)
        return False


def _knows(thread: Thread, item: OpenTask) -> bool:
    """True for the child that worked on the item, and on nothing else since."""
    return thread.child is not None and thread.child.task == item.task


def _to_new_child(batch: Batch, job: OpenJob, item: OpenTask) -> None:
    request = Spawn(
        agent=job.agent,
        objective=item.title or item.task,
        title=item.title,
        isolation=job.isolation,
    )
    said = attempts.format_instructions(batch, item, again=item.attempt > 0)
    spawn_child(batch, batch.thread(batch.state.lead), request, BoardTask(item.task, item.attempt + 1, said, "", job))
