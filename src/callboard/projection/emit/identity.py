"""What of an event's envelope is derived: the time's text, and the ids of message, part, step, attempt, trace and span."""

from __future__ import annotations

from callboard.contracts.record import Record, span_id, step_id, trace_id
from callboard.contracts.scope import Scope

#: Families whose facts are about one part of the assistant's message.
_PART_FAMILIES = frozenset({"message", "reasoning", "tool", "action"})
#: Facts that say what a person's message reads.
_USER_MESSAGES = frozenset({"turn.submitted", "queue.edited"})


def step_of(scope: Scope) -> str:
    """The id of the scope's step; empty where it has none."""
    return step_id(scope.run, scope.step) if scope.step else ""


def attempt_of(scope: Scope) -> str:
    """The id of the scope's attempt: its step, or its task, or its run, and the number; empty where it has none."""
    return f"{step_of(scope) or scope.task or scope.run}.{scope.attempt}" if scope.attempt else ""


def part_of(record: Record) -> str:
    """The id of the message part that the fact is about; empty where it is about none."""
    return step_of(record.scope) if _family(record) in _PART_FAMILIES else ""


def message_of(record: Record) -> str:
    """The id of the message: the run of the assistant's, the turn of the person's; empty where the fact is about none."""
    if record.header.type in _USER_MESSAGES:
        return record.scope.turn
    return record.scope.run if _family(record) in _PART_FAMILIES or record.header.type == "output.final" else ""


def trace_of(scope: Scope) -> str:
    """The trace of the scope's turn; empty where it has none."""
    return trace_id(scope.turn) if scope.turn else ""


def span_of(scope: Scope) -> str:
    """The span of the scope's step, or else of its run; empty where it has neither."""
    identity = step_of(scope) or scope.run
    return span_id(identity) if identity else ""


def _family(record: Record) -> str:
    return record.header.type.partition(".")[0]
