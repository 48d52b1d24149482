"""Events of the Multi-agent runtime specification, from facts and from live text.

The events of a fact depend on that fact alone, so every process emits the same. Names and ids use that specification's
casing.
"""

from __future__ import annotations

from typing import Any

import msgspec

from callboard.contracts.ids import is_workspace_stream
from callboard.contracts.live import Frame, Partial
from callboard.contracts.record import Record
from callboard.contracts.scope import Scope
from callboard.contracts.times import format_timestamp

from .entities import TRANSLATIONS
from .identity import find_step_id
from .run_emission import RunEmission, RunEventName, emit_agent_status

#: The largest number of events of one fact.
MAX_EVENTS = 4


class RunEvent(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One event.

    `event_id` is the fact's, and empty for live text. `message_id` is the run of the agent's message, or the turn of a
    person's message.
    """

    type: RunEventName
    session_id: str = ""
    agent_id: str = ""
    thread_id: str = ""
    turn_id: str = ""
    run_id: str = ""
    parent_run_id: str = ""
    message_id: str = ""
    part_id: str = ""
    task_id: str = ""
    event_id: str = ""
    timestamp: str = ""
    data: dict[str, Any] = {}


def build_run_events(record: Record) -> tuple[RunEvent, ...]:
    """Return the events of a fact in order; none for a fact that this specification does not cover."""
    translation = TRANSLATIONS.get(record.header.type)
    if translation is None or translation.runs is None:
        return ()
    scope = record.scope
    session = "" if is_workspace_stream(record.stream) else record.stream
    return tuple(
        RunEvent(
            type=name,
            session_id=session or str(data.get("session_id", "")),
            **_collect_ids(scope),
            message_id=scope.turn if name == "Message" and record.header.type == "turn.submitted" else scope.run,
            part_id=find_step_id(scope) if name == "Message" else "",
            event_id=record.event_id,
            timestamp=format_timestamp(record.header.at),
            data=data,
        )
        for name, data in translation.runs.build_events(record.fact)
    )


def build_frame_events(session: str, frame: Frame) -> tuple[RunEvent, ...]:
    """Return the events of a live frame: the agent's status where a part begins, and the token of a text."""
    emissions: list[RunEmission] = []
    if frame.offset == 0:
        if frame.kind == "reasoning":
            emissions.append(emit_agent_status("thinking"))
        elif frame.kind == "text":
            emissions.append(emit_agent_status("writing"))
        elif frame.kind == "arguments" and frame.tool:
            emissions.append(emit_agent_status("preparing_call", tool=frame.tool))
    if frame.kind == "text":
        emissions.append(("Token", {"offset": frame.offset, "text": frame.text}))
    return tuple(_build_live_event(session, frame.scope, name, data) for name, data in emissions)


def build_partial_event(session: str, partial: Partial) -> RunEvent:
    """Return the text so far of a part as one token at offset 0, in place of its frames."""
    return _build_live_event(session, partial.scope, "Token", {"offset": 0, "text": partial.text, "so_far": True})


def _build_live_event(session: str, scope: Scope, name: RunEventName, data: dict[str, Any]) -> RunEvent:
    return RunEvent(
        type=name,
        session_id=session,
        **_collect_ids(scope),
        message_id=scope.run,
        part_id=find_step_id(scope),
        data=data,
    )


def _collect_ids(scope: Scope) -> dict[str, str]:
    return {
        "agent_id": scope.agent,
        "thread_id": scope.thread,
        "turn_id": scope.turn,
        "run_id": scope.run,
        "parent_run_id": scope.parent_run,
        "task_id": scope.task,
    }
