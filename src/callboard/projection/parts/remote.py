"""Parts of a remote agent's tasks."""

from __future__ import annotations

from typing import Any

import msgspec

from callboard.contracts.facts.agent import RemoteArtifact, RemoteTaskChanged
from callboard.contracts.record import Record
from callboard.contracts.rows.agent import RemoteStatusPart
from callboard.contracts.rows.base import Op

from ..reducer import on, upsert
from .run import OpenRun, RemoteTask


@on
def change_task(run: OpenRun, record: Record, fact: RemoteTaskChanged) -> list[Op]:
    return _change(
        _find_or_add_task(run, record, fact.remote_task_id), record, task_state=fact.state, message=fact.message
    )


@on
def add_artifact(run: OpenRun, record: Record, fact: RemoteArtifact) -> list[Op]:
    """Add an artifact of a remote task, or replace it by id."""
    task = _find_or_add_task(run, record, fact.remote_task_id)
    task.artifacts[fact.remote_artifact_id] = fact.name or fact.remote_artifact_id
    return _change(task, record, artifacts=tuple(task.artifacts.values()))


def _find_or_add_task(run: OpenRun, record: Record, remote_id: str) -> RemoteTask:
    task = run.remote.get(remote_id)
    if task is None:
        fields = run.position.build_aside_fields(record, record.scope.step or run.step)
        row = RemoteStatusPart(**fields, agent_id=record.scope.agent, remote_task_id=remote_id, task_state="unknown")
        task = run.remote[remote_id] = RemoteTask(row)
    return task


def _change(task: RemoteTask, record: Record, **changes: Any) -> list[Op]:
    task.row = msgspec.structs.replace(task.row, sequence=record.sequence, **changes)
    return upsert(task.row)
