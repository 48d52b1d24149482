"""The events of the Subagents specification (Runtime facts), made of our facts: each with the ids that its family requires."""

from __future__ import annotations

from typing import Any

import msgspec

from callboard.contracts.entities.team import Ref
from callboard.contracts.facts import (
    ChannelClosed,
    ChannelMessage,
    ChannelOpened,
    HandoffAccepted,
    HandoffCompleted,
    HandoffRejected,
    HandoffRequested,
    RemoteArtifact,
    ToolCompleted,
    ToolFailed,
)
from callboard.contracts.record import Record
from callboard.contracts.times import timestamp
from callboard.contracts.vocabulary import SubagentEventType

from .identity import attempt_of
from .lineage import LineageIndex

#: What each fact is told as, by its tag. What is not here is no event of this vocabulary.
EVENTS: dict[str, tuple[SubagentEventType, ...]] = {
    "task.created": ("task.created",),
    "task.started": ("task.updated",),
    "task.paused": ("task.updated",),
    "task.resumed": ("task.updated",),
    "task.cancel.requested": ("task.updated",),
    "task.updated": ("task.updated",),
    "task.completed": ("task.completed",),
    "task.failed": ("task.failed",),
    "task.cancelled": ("task.cancelled",),
    "subagent.started": ("subagent.started", "worker.started"),
    "model.completed": ("subagent.progress",),
    "action.required": ("worker.blocked",),
    "subagent.completed": ("subagent.completed", "worker.completed"),
    "subagent.failed": ("subagent.failed", "worker.failed"),
    "subagent.cancelled": ("subagent.cancelled", "worker.cancelled"),
    "worker.notification": ("worker.notification",),
    "channel.opened": ("channel.opened",),
    "channel.message": ("channel.message",),
    "channel.closed": ("channel.closed",),
    "handoff.requested": ("handoff.requested",),
    "handoff.accepted": ("handoff.accepted",),
    "handoff.rejected": ("handoff.rejected",),
    "handoff.completed": ("handoff.completed",),
    "review.requested": ("review.requested",),
    "review.verdict": ("review.verdict",),
    "review.applied": ("review.applied",),
    "snapshot.updated": ("snapshot.updated",),
    "tool.started": ("tool.started",),
    "tool.completed": ("tool.result", "artifact.changed"),
    "tool.failed": ("tool.result", "artifact.changed"),
    "remote.artifact": ("artifact.changed",),
}
#: Facts of any run that are events of this vocabulary only where a child is at work.
_OF_CHILDREN = frozenset({"model.completed", "action.required"})


class SubagentEvent(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One event. A worker is the thread that does the work. Lists that a family requires are there even where they are empty;
    `lineage` says that a child's parents are not known, instead of a guess."""

    type: SubagentEventType
    event_id: str
    schema_version: int
    sequence: int
    timestamp: str
    session_id: str
    run_id: str = ""
    attempt_id: str = ""
    task_id: str = ""
    parent_task_id: str = ""
    parent_run_id: str = ""
    subagent_id: str = ""
    worker_id: str = ""
    channel_id: str = ""
    participants: tuple[str, ...] | None = None
    handoff_id: str = ""
    source_id: str = ""
    target_id: str = ""
    review_id: str = ""
    refs: tuple[Ref, ...] | None = None
    tool_call_id: str = ""
    action_id: str = ""
    job_id: str = ""
    lineage: str = ""
    payload: dict[str, Any]


class SubagentEvents:
    """Makes the events of one session from its facts, which are given in their order."""

    def __init__(self) -> None:
        self._known = LineageIndex()

    def apply(self, record: Record) -> tuple[SubagentEvent, ...]:
        """The events that the fact is told as, in order; none where it is none of this vocabulary."""
        self._known.learn(record)
        types = EVENTS.get(record.header.type, ())
        if not types or (record.header.type in _OF_CHILDREN and record.scope.thread not in self._known.children):
            return ()
        ids = self._ids(record)
        content: dict[str, Any] = msgspec.to_builtins(record.fact)
        payload = content if record.fact.readable else {**content, "erased": True}
        files = _files(record)
        return tuple(
            _event(record, kind, payload, {**ids, "refs": files} if kind == "artifact.changed" else ids)
            for kind in types
            if kind != "artifact.changed" or files
        )

    def _ids(self, record: Record) -> dict[str, Any]:
        scope, known = record.scope, self._known
        family = record.header.type.partition(".")[0]
        child = known.children.get(scope.thread)
        run = scope.run or known.runs.get(scope.thread, "")
        task = scope.task or (child.task if child is not None else "")
        ids: dict[str, Any] = {
            "run_id": run,
            "attempt_id": attempt_of(scope) or (run if task else ""),
            "task_id": task,
            "parent_task_id": known.parents.get(task, ""),
            "tool_call_id": scope.tool_call,
            "action_id": scope.action,
            "channel_id": scope.channel,
            "handoff_id": scope.handoff,
            "review_id": scope.review,
            "job_id": scope.job or (child.job if child is not None else ""),
        }
        if child is not None:
            ids |= {
                "subagent_id": child.agent,
                "worker_id": scope.thread,
                "parent_run_id": scope.parent_run or child.parent_run,
            }
        elif family in ("subagent", "worker"):
            ids |= {"subagent_id": scope.agent, "worker_id": scope.thread, "lineage": "unavailable"}
        if family == "review":
            ids["refs"] = known.refs.get(scope.review, ())
        return {**ids, **_between(record)}


def _event(record: Record, kind: SubagentEventType, payload: dict[str, Any], ids: dict[str, Any]) -> SubagentEvent:
    return SubagentEvent(
        type=kind,
        event_id=record.event_id,
        schema_version=record.schema_version,
        sequence=record.sequence,
        timestamp=timestamp(record.header.at),
        session_id=record.stream,
        payload=payload,
        **ids,
    )


def _between(record: Record) -> dict[str, Any]:
    """Who takes part in what the fact is about."""
    match record.fact:
        case HandoffRequested() | HandoffAccepted() | HandoffRejected() | HandoffCompleted() as fact:
            return {"source_id": fact.source, "target_id": fact.target}
        case ChannelOpened() | ChannelMessage() | ChannelClosed() as fact:
            return {"participants": fact.participants}
        case _:
            return {}


def _files(record: Record) -> tuple[Ref, ...]:
    """The files that a call changed, or the artifact that an agent elsewhere delivered."""
    match record.fact:
        case RemoteArtifact() as fact:
            return (Ref(type="artifact", ref=fact.remote_artifact_id),)
        case ToolCompleted(changes=changes) | ToolFailed(changes=changes):
            return tuple(Ref(type="file", ref=change.path) for change in changes)
        case _:
            return ()
