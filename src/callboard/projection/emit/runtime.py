"""Events of the runtime itself: every fact under its wire tag, with its envelope."""

from __future__ import annotations

import msgspec

from callboard.contracts.facts.base import ErasedFact
from callboard.contracts.facts.session import SessionCreated
from callboard.contracts.ids import is_workspace_stream
from callboard.contracts.record import Record, WireEvent, encode_payload
from callboard.contracts.times import format_timestamp

from .identity import find_attempt_id, find_message_id, find_part_id, find_span_id, find_step_id, find_trace_id


def build_wire_event(record: Record, store_id: str) -> WireEvent:
    """Return the event of a fact. An erased fact has no payload; a fact with an unknown tag keeps its stored payload."""
    header, scope = record.header, record.scope
    in_workspace = is_workspace_stream(record.stream)
    fact = record.fact
    return WireEvent(
        type=header.type,
        event_id=record.event_id,
        schema_version=record.schema_version,
        sequence=record.sequence,
        timestamp=format_timestamp(header.at),
        runtime_id=f"{store_id}.{header.epoch}",
        session_id="" if in_workspace else record.stream,
        workspace_id=record.stream if in_workspace else fact.workspace_id if isinstance(fact, SessionCreated) else "",
        thread_id=scope.thread,
        turn_id=scope.turn,
        run_id=scope.run,
        step_id=find_step_id(scope),
        attempt_id=find_attempt_id(scope),
        message_id=find_message_id(record),
        part_id=find_part_id(record),
        task_id=scope.task,
        agent_id=scope.agent,
        parent_session_id=scope.parent_session,
        parent_thread_id=scope.parent_thread,
        parent_run_id=scope.parent_run,
        tool_call_id=scope.tool_call,
        action_id=scope.action,
        artifact_id=scope.artifact,
        evidence_id=scope.evidence,
        handoff_id=scope.handoff,
        channel_id=scope.channel,
        review_id=scope.review,
        process_id=scope.process,
        job_id=scope.job,
        trace_id=find_trace_id(scope),
        span_id=find_span_id(scope),
        command_id=header.command_id,
        actor=header.actor,
        cause=header.cause,
        erased=isinstance(fact, ErasedFact),
        payload=msgspec.Raw(encode_payload(fact) if record.payload is None else record.payload),
    )
