"""The end of a run in the terms of its record (Multi-agent runtime specification, Run model)."""

from __future__ import annotations

from callboard.contracts.facts import TurnCompleted, TurnFailed, TurnInterrupted
from callboard.contracts.rows.team import RunStatus

#: Causes of an interrupt that a person, a parent or newer input intended.
_INTENDED = frozenset({"person", "replaced", "cancelled", "closed"})


def run_end(fact: TurnCompleted | TurnFailed | TurnInterrupted) -> tuple[RunStatus, str]:
    """Return the run's final status, and its error code or cause."""
    match fact:
        case TurnCompleted():
            return "completed", ""
        case TurnFailed():
            return "failed", fact.code
        case TurnInterrupted():
            return ("cancelled" if fact.cause in _INTENDED else "failed"), fact.cause
