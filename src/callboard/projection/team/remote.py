"""What an agent elsewhere told of itself, of its newest task and of what it delivered. Silence changes no state."""

from __future__ import annotations

import msgspec

from callboard.contracts.entities.team import RemoteTaskState
from callboard.contracts.facts import AgentConnected, RemoteArtifact, RemoteTaskChanged
from callboard.contracts.record import Record
from callboard.contracts.rows.team import AgentState, Delivered, RemoteWork

#: How many artifacts are kept, and how many characters of all their texts.
ARTIFACTS = 50
_ROOM = 64 * 1024
#: States in which the remote end waits for somebody.
NEEDS: frozenset[RemoteTaskState] = frozenset({"input_required", "auth_required"})
#: States after which nothing more comes of a task.
OVER: frozenset[RemoteTaskState] = frozenset({"completed", "failed", "canceled", "rejected"})
#: How an agent stands whose run is over, by what it last told. One that was told to have ended is idle.
RESTING: dict[RemoteTaskState, AgentState] = {
    "submitted": "waiting",
    "working": "waiting",
    "input_required": "needs_input",
    "auth_required": "needs_input",
    "failed": "failed",
    "rejected": "failed",
    "unknown": "unknown",
}


def unfinished(work: RemoteWork) -> bool:
    """True where it has a task of which more should come."""
    return work.task_state is not None and work.task_state not in OVER


def connected(work: RemoteWork, fact: AgentConnected) -> RemoteWork:
    """It was reached, and showed its card."""
    return msgspec.structs.replace(work, name=fact.name, version=fact.version, card=fact.card)


def told(work: RemoteWork, record: Record, fact: RemoteTaskChanged) -> RemoteWork:
    """It told a state of a task."""
    return msgspec.structs.replace(
        work,
        task_id=fact.remote_task_id,
        task_state=fact.state,
        message=fact.message,
        told_at=record.header.at,
    )


def delivered(work: RemoteWork, record: Record, fact: RemoteArtifact) -> RemoteWork:
    """It delivered an artifact; one of the same id replaces the former of that task."""
    new = Delivered(
        artifact_id=fact.remote_artifact_id,
        task_id=fact.remote_task_id,
        name=fact.name,
        description=fact.description,
        parts=fact.parts,
        left_out=fact.left_out,
        at=record.header.at,
    )
    others = (one for one in work.artifacts if (one.task_id, one.artifact_id) != (new.task_id, new.artifact_id))
    return msgspec.structs.replace(work, artifacts=_with_room((*others, new)[-ARTIFACTS:]))


def _with_room(artifacts: tuple[Delivered, ...]) -> tuple[Delivered, ...]:
    """The artifacts, the parts only of the newest: what they hold is told again with every change of the agent."""
    room, kept = _ROOM, list[Delivered]()
    for one in reversed(artifacts):
        room -= sum(len(part.text.text) for part in one.parts)
        kept.append(one if room >= 0 or not kept else msgspec.structs.replace(one, parts=()))
    return tuple(reversed(kept))
