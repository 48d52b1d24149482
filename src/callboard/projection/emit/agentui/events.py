"""Events of the Agent UI specification (Event envelope), from facts and from live text."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

import msgspec

from callboard.contracts.content import Text
from callboard.contracts.facts.base import Fact, UnknownFact
from callboard.contracts.ids import is_workspace_stream
from callboard.contracts.live import Cursor, Frame
from callboard.contracts.record import Record
from callboard.contracts.rows.team import TeamRow
from callboard.contracts.scope import Scope
from callboard.contracts.times import format_timestamp
from callboard.contracts.vocabulary import (
    Control,
    EventClass,
    EventScope,
    MessagePart,
    Owner,
    Persistence,
    Phase,
    Surface,
    Topology,
)

from ..agentui_emission import DELTAS, HYDRATED, Emission, Emissions, emit_diagnostic
from ..entities import TRANSLATIONS
from ..identity import find_attempt_id, find_message_id, find_part_id, find_step_id
from .parts import find_part_type


class AgentUiEvent(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, gc=False):
    """One event.

    `sequence` is the fact's. Live frames have the newest fact's sequence and count with `n` from 1. `part_type` is the kind
    of message part, and None for other events. `refs` are the blobs of large texts, by field of the payload.
    `raw_event_ref` is the id of the runtime's event.
    """

    type: EventClass
    sequence: int
    n: int = 0
    timestamp: str = ""
    session_id: str = ""
    thread_id: str = ""
    run_id: str = ""
    turn_id: str = ""
    message_id: str = ""
    part_id: str = ""
    task_id: str = ""
    agent_id: str = ""
    parent_session_id: str = ""
    parent_thread_id: str = ""
    tool_call_id: str = ""
    action_id: str = ""
    artifact_id: str = ""
    evidence_id: str = ""
    owner: Owner
    scope: EventScope
    phase: Phase
    surface: Surface
    persistence: Persistence
    control: Control | None = None
    topology: Topology | None = None
    part_type: MessagePart | None = None
    payload: dict[str, Any]
    refs: dict[str, str] = {}
    raw_event_ref: str = ""


def translate_fact(tag: str, fact: Fact) -> Emissions:
    """Return the events of a fact, before their envelope. A diagnostic and a fact with an unknown tag have no translation."""
    translation = TRANSLATIONS.get(tag)
    if translation is None:
        return emit_diagnostic("acting")
    return translation.agent_ui(fact) if callable(translation.agent_ui) else translation.agent_ui


def build_agent_ui_events(record: Record, team: TeamRow | None = None) -> tuple[AgentUiEvent, ...]:
    """Return the events of a fact in order; none if other facts produce them.

    The events depend on that fact alone. `AgentUiEvents` adds what other facts of the session say.

    Args:
        team: The session's team. None for a solo run.
    """
    return wrap_emissions(record, translate_fact(record.header.type, record.fact), team)


def wrap_emissions(record: Record, emitted: Iterable[Emission], team: TeamRow | None) -> tuple[AgentUiEvent, ...]:
    """Return the emissions of a fact in their envelope."""
    fact, scope = record.fact, record.scope
    content, refs = _build_content(record), _collect_refs(fact)
    return tuple(
        AgentUiEvent(
            type=emission.type,
            sequence=record.sequence,
            timestamp=format_timestamp(record.header.at),
            session_id=_find_session(record),
            message_id=find_message_id(record),
            part_id=find_part_id(record),
            **{
                **_collect_entities(scope),
                "action_id": emission.action or scope.action,
                # A subagent's session is its parent's.
                "parent_session_id": scope.parent_session or (record.stream if scope.parent_thread else ""),
            },
            **_collect_dimensions(emission),
            topology=_find_topology(emission.type, team),
            payload={**content, **emission.adds, **_collect_names(record, emission, team)},
            refs=refs,
            raw_event_ref=record.event_id,
        )
        for emission in emitted
    )


def build_delta_event(frame: Frame, session_id: str, cursor: Cursor, at: int) -> AgentUiEvent:
    """Return the event of a live frame.

    Args:
        cursor: The frame's position in the live feed.
        at: Microseconds since the epoch.
    """
    emission = DELTAS[frame.kind]
    tool = {"tool": frame.tool} if frame.tool else {}
    progress = {"message": frame.text, "done": frame.done, "total": frame.total}
    delta = {"offset": frame.offset, "delta": frame.text}
    return AgentUiEvent(
        type=emission.type,
        sequence=cursor.sequence,
        n=cursor.n,
        timestamp=format_timestamp(at),
        session_id=session_id,
        message_id=frame.scope.run,
        part_id=find_step_id(frame.scope),
        **_collect_entities(frame.scope),
        **_collect_dimensions(emission),
        payload={**(progress if frame.kind == "progress" else delta), **tool, **emission.adds},
    )


def build_hydrated_event(session_id: str, through: int, at: int) -> AgentUiEvent:
    """Return the event that follows a session's stored facts.

    Args:
        through: The sequence of the newest stored fact.
        at: Microseconds since the epoch.
    """
    return AgentUiEvent(
        type=HYDRATED.type,
        sequence=through,
        timestamp=format_timestamp(at),
        session_id=session_id,
        **_collect_dimensions(HYDRATED),
        payload={"through": through},
    )


def _collect_entities(scope: Scope) -> dict[str, Any]:
    return {
        "thread_id": scope.thread,
        "run_id": scope.run,
        "turn_id": scope.turn,
        "task_id": scope.task,
        "agent_id": scope.agent,
        "parent_session_id": scope.parent_session,
        "parent_thread_id": scope.parent_thread,
        "tool_call_id": scope.tool_call,
        "action_id": scope.action,
        "artifact_id": scope.artifact,
        "evidence_id": scope.evidence,
    }


def _collect_dimensions(emission: Emission) -> dict[str, Any]:
    return {
        "owner": emission.owner,
        "scope": emission.scope,
        "phase": emission.phase,
        "surface": emission.surface,
        "persistence": emission.persistence,
        "control": emission.control,
        "part_type": find_part_type(emission),
    }


#: Families of events that only a team has.
_TEAM_FAMILIES = frozenset({"agent", "team", "worker", "review"})


def _find_topology(kind: EventClass, team: TeamRow | None) -> Topology | None:
    """Return how the work is organised, for the start of a run and the events of a team."""
    if kind == "run.started":
        return team.topology if team is not None else "solo_run"
    return team.topology if team is not None and kind.partition(".")[0] in _TEAM_FAMILIES else None


def _collect_names(record: Record, emission: Emission, team: TeamRow | None) -> dict[str, Any]:
    """Return the names of a teammate or a task (Agent UI specification, Runtime execution alignment)."""
    match emission.adds.get("runtimeEntity"):
        case "subagent_turn":
            return {"agentName": record.scope.agent, **({"teamName": team.name} if team is not None else {})}
        case "work_item":
            attempt = {"attemptId": find_attempt_id(record.scope)} if record.scope.attempt else {}
            return {"workItemId": record.scope.task, **attempt}
        case _:
            return {}


def _find_session(record: Record) -> str:
    """Return the session of the stream, or the session that a workspace's fact is about."""
    if not is_workspace_stream(record.stream):
        return record.stream
    return str(getattr(record.fact, "session_id", ""))


def _build_content(record: Record) -> dict[str, Any]:
    fact = record.fact
    if isinstance(fact, UnknownFact):
        return {"unknown": record.header.type}
    content: dict[str, Any] = msgspec.to_builtins(fact)
    return content if fact.readable else {**content, "erased": True}


def _collect_refs(fact: Fact) -> dict[str, str]:
    return {
        name: text.ref.hash
        for attribute, name in _list_fields(type(fact))
        if isinstance(text := getattr(fact, attribute), Text) and text.ref is not None
    }


@cache
def _list_fields(kind: type[Fact]) -> tuple[tuple[str, str], ...]:
    return tuple((field.name, field.encode_name) for field in msgspec.structs.fields(kind))
