"""The work of a remote agent: its card, its newest task and its artifacts."""

from __future__ import annotations

import msgspec

from callboard.contracts.entities.team import RemoteTaskState
from callboard.contracts.facts.agent import AgentConnected, RemoteArtifact, RemoteTaskChanged
from callboard.contracts.record import Record
from callboard.contracts.rows.agent import AgentState, DeliveredArtifact, RemoteWork

#: Maximum number of artifacts, and of characters in all their texts.
MAX_ARTIFACTS = 50
_MAX_TOTAL_CHARS = 64 * 1024
#: States in which the remote agent waits for input.
NEEDS: frozenset[RemoteTaskState] = frozenset({"input_required", "auth_required"})
#: Final states of a task.
_FINAL: frozenset[RemoteTaskState] = frozenset({"completed", "failed", "canceled", "rejected"})
#: The agent's state between runs, by the state of its remote task. Other states leave the agent idle.
RESTING: dict[RemoteTaskState, AgentState] = {
    "submitted": "waiting",
    "working": "waiting",
    "input_required": "needs_input",
    "auth_required": "needs_input",
    "failed": "failed",
    "rejected": "failed",
    "unknown": "unknown",
}


def is_unfinished(work: RemoteWork) -> bool:
    """Return whether the agent has a task without a final state."""
    return work.task_state is not None and work.task_state not in _FINAL


def connect(work: RemoteWork, fact: AgentConnected) -> RemoteWork:
    """Return the work with the agent's card."""
    return msgspec.structs.replace(work, name=fact.name, version=fact.version, card=fact.card)


def change_task(work: RemoteWork, record: Record, fact: RemoteTaskChanged) -> RemoteWork:
    """Return the work with the newest task."""
    return msgspec.structs.replace(
        work,
        task_id=fact.remote_task_id,
        task_state=fact.state,
        message=fact.message,
        told_at=record.header.at,
    )


def add_artifact(work: RemoteWork, record: Record, fact: RemoteArtifact) -> RemoteWork:
    """Return the work with an artifact, which replaces the task's artifact with the same id."""
    new = DeliveredArtifact(
        artifact_id=fact.remote_artifact_id,
        task_id=fact.remote_task_id,
        name=fact.name,
        description=fact.description,
        parts=fact.parts,
        left_out=fact.left_out,
        at=record.header.at,
    )
    key = (new.task_id, new.artifact_id)
    others = (other for other in work.artifacts if (other.task_id, other.artifact_id) != key)
    return msgspec.structs.replace(work, artifacts=_drop_older_parts((*others, new)[-MAX_ARTIFACTS:]))


def _drop_older_parts(artifacts: tuple[DeliveredArtifact, ...]) -> tuple[DeliveredArtifact, ...]:
    """Drop the parts of older artifacts: every change of the agent sends the whole row again."""
    remaining_chars, fitted = _MAX_TOTAL_CHARS, list[DeliveredArtifact]()
    for artifact in reversed(artifacts):
        remaining_chars -= sum(len(part.text.text) for part in artifact.parts)
        fitted.append(artifact if remaining_chars >= 0 or not fitted else msgspec.structs.replace(artifact, parts=()))
    return tuple(reversed(fitted))
