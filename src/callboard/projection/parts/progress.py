"""Plan parts, and the status parts of a remote agent's tasks."""

from __future__ import annotations

import msgspec

from callboard.contracts.facts.agent import RemoteArtifact, RemoteTaskChanged
from callboard.contracts.facts.message import PlanUpdated
from callboard.contracts.record import Record
from callboard.contracts.rows.base import Op
from callboard.contracts.rows.conversation import PartState, PlanPart, RemoteStatusPart

from ..reducer import upsert
from .run import OpenRun, RemoteTask, aside_key, step_key


def update_plan(run: OpenRun, record: Record, fact: PlanUpdated) -> list[Op]:
    """Update the plan in place. A new revision is a part of its own."""
    state: PartState = "final" if fact.final else "streaming"
    if run.plan is not None and fact.revision > run.plan.revision:
        fields = run.place.fields(record, step_key(record), record.scope.step)
        previous = msgspec.structs.replace(run.plan, sequence=record.sequence, state="final", later=fields["key"])
        run.plan = PlanPart(**fields, state=state, steps=fact.steps, revision=fact.revision, former=previous.key)
        return upsert(previous, run.plan)
    if run.plan is None:
        fields = run.place.fields(record, step_key(record), record.scope.step)
        run.plan = PlanPart(**fields, state=state, steps=fact.steps)
    else:
        run.plan = msgspec.structs.replace(run.plan, sequence=record.sequence, state=state, steps=fact.steps)
    return upsert(run.plan)


def end_plan(run: OpenRun, record: Record, state: PartState) -> list[Op]:
    """Set the final state of the plan at the end of its run."""
    if run.plan is None or run.plan.state == "final":
        return []
    return upsert(msgspec.structs.replace(run.plan, sequence=record.sequence, state=state))


def change_task(run: OpenRun, record: Record, fact: RemoteTaskChanged) -> list[Op]:
    """Change the state of a remote task."""
    task = _task(run, record, fact.remote_task_id)
    task.row = msgspec.structs.replace(task.row, sequence=record.sequence, task_state=fact.state, message=fact.message)
    return upsert(task.row)


def add_artifact(run: OpenRun, record: Record, fact: RemoteArtifact) -> list[Op]:
    """Add an artifact of a remote task, or replace it by id."""
    task = _task(run, record, fact.remote_task_id)
    task.artifacts[fact.remote_artifact_id] = fact.name or fact.remote_artifact_id
    task.row = msgspec.structs.replace(task.row, sequence=record.sequence, artifacts=tuple(task.artifacts.values()))
    return upsert(task.row)


def _task(run: OpenRun, record: Record, remote_id: str) -> RemoteTask:
    task = run.remote.get(remote_id)
    if task is None:
        row = RemoteStatusPart(
            **run.place.fields(record, aside_key(run.place.run, record.sequence), record.scope.step or run.step),
            agent_id=record.scope.agent,
            remote_task_id=remote_id,
            task_state="unknown",
        )
        task = run.remote[remote_id] = RemoteTask(row)
    return task
