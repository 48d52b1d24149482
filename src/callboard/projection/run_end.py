"""How a run ended, in the words of its record (Multi-agent runtime specification, Run model): one that a person or its parent
stopped is cancelled, one that nobody meant to end failed."""

from __future__ import annotations

from callboard.contracts.facts import TurnCompleted, TurnFailed, TurnInterrupted
from callboard.contracts.record import Record
from callboard.contracts.rows.team import RunStatus

#: Interrupts that somebody meant.
_MEANT = frozenset({"person", "replaced", "cancelled", "closed"})


def ended(record: Record) -> tuple[RunStatus, str]:
    """The status in which a run ended, and its code or cause."""
    match record.fact:
        case TurnCompleted():
            return "completed", ""
        case TurnFailed() as fact:
            return "failed", fact.code
        case TurnInterrupted() as fact:
            return ("cancelled" if fact.cause in _MEANT else "failed"), fact.cause
        case _:
            raise LookupError(f"{record.header.type} ends no run")
