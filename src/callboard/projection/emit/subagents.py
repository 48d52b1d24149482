"""Events of the Subagents specification (Runtime facts), with the ids that each family requires."""

from __future__ import annotations

from typing import Any

import msgspec

from callboard.contracts.entities.team import Ref
from callboard.contracts.facts.agent import RemoteArtifact
from callboard.contracts.facts.base import Fact
from callboard.contracts.facts.tool import ToolCompleted, ToolFailed
from callboard.contracts.record import Record
from callboard.contracts.times import format_timestamp
from callboard.contracts.vocabulary import SubagentEventType

from .entities import TRANSLATIONS
from .identity import find_attempt_id
from .lineage import LineageIndex


class SubagentEvent(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, gc=False):
    """One event.

    A worker is the thread that does the work. A list that the family requires is present even if it is empty. `lineage` is
    `unavailable` if a child's parents are unknown.
    """

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
    """The events of one session. Apply its facts in order."""

    def __init__(self) -> None:
        self._lineage = LineageIndex()

    def apply(self, record: Record) -> tuple[SubagentEvent, ...]:
        """Return the events of the fact in order; none for a fact that this specification does not cover."""
        self._lineage.handle(record)
        translation = TRANSLATIONS.get(record.header.type)
        if translation is None or not translation.subagents:
            return ()
        if translation.children_only and record.scope.thread not in self._lineage.children:
            return ()
        ids = self._collect_ids(record)
        content: dict[str, Any] = msgspec.to_builtins(record.fact)
        payload = content if record.fact.readable else {**content, "erased": True}
        files = _list_files(record)
        return tuple(
            _build_event(record, kind, payload, {**ids, "refs": files} if kind == "artifact.changed" else ids)
            for kind in translation.subagents
            if kind != "artifact.changed" or files
        )

    def _collect_ids(self, record: Record) -> dict[str, Any]:
        scope, lineage = record.scope, self._lineage
        family = record.header.type.partition(".")[0]
        child = lineage.children.get(scope.thread)
        run = scope.run or lineage.runs.get(scope.thread, "")
        task = scope.task or (child.task if child is not None else "")
        ids: dict[str, Any] = {
            "run_id": run,
            "attempt_id": find_attempt_id(scope) or (run if task else ""),
            "task_id": task,
            "parent_task_id": lineage.parents.get(task, ""),
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
            ids["refs"] = lineage.refs.get(scope.review, ())
        return {**ids, **_list_participants(family, record.fact)}


def _build_event(
    record: Record, kind: SubagentEventType, payload: dict[str, Any], ids: dict[str, Any]
) -> SubagentEvent:
    return SubagentEvent(
        type=kind,
        event_id=record.event_id,
        schema_version=record.schema_version,
        sequence=record.sequence,
        timestamp=format_timestamp(record.header.at),
        session_id=record.stream,
        payload=payload,
        **ids,
    )


def _list_participants(family: str, fact: Fact) -> dict[str, Any]:
    """Return the agents of a handoff or a channel."""
    if family == "handoff":
        return {"source_id": getattr(fact, "source", ""), "target_id": getattr(fact, "target", "")}
    return {"participants": getattr(fact, "participants", None)} if family == "channel" else {}


def _list_files(record: Record) -> tuple[Ref, ...]:
    """Return the files that a call changed, or the artifact of a remote agent."""
    match record.fact:
        case RemoteArtifact() as fact:
            return (Ref(type="artifact", ref=fact.remote_artifact_id),)
        case ToolCompleted(changes=changes) | ToolFailed(changes=changes):
            return tuple(Ref(type="file", ref=change.path) for change in changes)
        case _:
            return ()
