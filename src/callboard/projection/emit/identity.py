"""Derived ids of an event's envelope: message, part, step, attempt, trace and span."""

from __future__ import annotations

from callboard.contracts.record import Record, derive_span_id, derive_trace_id, format_step_id
from callboard.contracts.scope import Scope

#: Families with facts about one part of the agent's message.
_PART_FAMILIES = frozenset({"message", "reasoning", "tool", "action"})
#: Facts with the text of a person's message.
_USER_MESSAGES = frozenset({"turn.submitted", "queue.edited"})


def find_step_id(scope: Scope) -> str:
    """Return the id of the scope's step; empty without a step."""
    return format_step_id(scope.run, scope.step) if scope.step else ""


def find_attempt_id(scope: Scope) -> str:
    """Return the attempt's id: its step, task or run, and the number; empty without an attempt."""
    return f"{find_step_id(scope) or scope.task or scope.run}.{scope.attempt}" if scope.attempt else ""


def find_part_id(record: Record) -> str:
    """Return the id of the fact's message part; empty for facts outside of a message."""
    return find_step_id(record.scope) if _get_family(record) in _PART_FAMILIES else ""


def find_message_id(record: Record) -> str:
    """Return the message's id: the run for an agent's message, the turn for a person's; empty outside of a message."""
    if record.header.type in _USER_MESSAGES:
        return record.scope.turn
    return record.scope.run if _get_family(record) in _PART_FAMILIES or record.header.type == "output.final" else ""


def find_trace_id(scope: Scope) -> str:
    """Return the trace of the scope's turn; empty without a turn."""
    return derive_trace_id(scope.turn) if scope.turn else ""


def find_span_id(scope: Scope) -> str:
    """Return the span of the scope's step, or of its run; empty without both."""
    identity = find_step_id(scope) or scope.run
    return derive_span_id(identity) if identity else ""


def _get_family(record: Record) -> str:
    return record.header.type.partition(".")[0]
