"""What an agent tells of its own way while it is at work: its plan, and, elsewhere, the state of its task."""

from __future__ import annotations

from typing import Any

import msgspec

from callboard.contracts.facts import PlanUpdated, RemoteArtifact, RemoteTaskChanged
from callboard.contracts.record import Record
from callboard.contracts.rows import Op, PlanPart, RemoteStatusPart
from callboard.contracts.rows.conversation import PartState

from ..reducer import upsert
from .run import OpenRun, RemoteTask, aside_key, step_key


def planned(run: OpenRun, record: Record, fact: PlanUpdated) -> list[Op]:
    """The plan as it is now, at the place of its first telling; the next revision of one stands at its own."""
    state: PartState = "final" if fact.final else "streaming"
    if run.plan is not None and fact.revision > run.plan.revision:
        common = _common(run, record, step_key(record), record.scope.step)
        former = msgspec.structs.replace(run.plan, sequence=record.sequence, state="final", later=common["key"])
        run.plan = PlanPart(**common, state=state, steps=fact.steps, revision=fact.revision, former=former.key)
        return upsert(former, run.plan)
    if run.plan is None:
        common = _common(run, record, step_key(record), record.scope.step)
        run.plan = PlanPart(**common, state=state, steps=fact.steps)
    else:
        run.plan = msgspec.structs.replace(run.plan, sequence=record.sequence, state=state, steps=fact.steps)
    return upsert(run.plan)


def plan_ended(run: OpenRun, record: Record, state: PartState) -> list[Op]:
    """The run is over, and what its plan was last is what it stays."""
    if run.plan is None or run.plan.state == "final":
        return []
    return upsert(msgspec.structs.replace(run.plan, sequence=record.sequence, state=state))


def told(run: OpenRun, record: Record, fact: RemoteTaskChanged) -> list[Op]:
    """The remote end told a state of the task that it has for this turn."""
    task = _task(run, record, fact.remote_task_id)
    task.row = msgspec.structs.replace(task.row, sequence=record.sequence, task_state=fact.state, message=fact.message)
    return upsert(task.row)


def delivered(run: OpenRun, record: Record, fact: RemoteArtifact) -> list[Op]:
    """The remote end delivered an artifact; one of the same id is the same."""
    task = _task(run, record, fact.remote_task_id)
    task.artifacts[fact.remote_artifact_id] = fact.name or fact.remote_artifact_id
    task.row = msgspec.structs.replace(task.row, sequence=record.sequence, artifacts=tuple(task.artifacts.values()))
    return upsert(task.row)


def _task(run: OpenRun, record: Record, identity: str) -> RemoteTask:
    task = run.remote.get(identity)
    if task is None:
        row = RemoteStatusPart(
            **_common(run, record, aside_key(run.place.run, record.sequence), record.scope.step or run.step),
            agent_id=record.scope.agent,
            remote_task_id=identity,
            task_state="unknown",
        )
        task = run.remote[identity] = RemoteTask(row)
    return task


def _common(run: OpenRun, record: Record, key: str, step: int) -> dict[str, Any]:
    return {
        "key": key,
        "order": run.place.order(step),
        "sequence": record.sequence,
        "turn_id": run.place.turn,
        "thread_id": run.place.thread,
        "at": record.header.at,
    }
