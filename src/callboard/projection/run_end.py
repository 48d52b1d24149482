"""The end of a run in the terms of its record (Multi-agent runtime specification, Run model)."""

from __future__ import annotations

from callboard.contracts.facts.turn import TurnCompleted, TurnEndFact, TurnFailed, TurnInterrupted
from callboard.contracts.rows.run import RunStatus

#: Causes of an interrupt that a person, a parent or newer input intended.
_INTENDED = frozenset({"person", "replaced", "cancelled", "closed"})


def derive_end(fact: TurnEndFact) -> tuple[RunStatus, str]:
    """Return the run's final status, and its error code or cause."""
    match fact:
        case TurnCompleted():
            return "completed", ""
        case TurnFailed():
            return "failed", fact.code
        case TurnInterrupted():
            return derive_status("interrupted", fact.cause), fact.cause


def derive_status(state: str, cause: str = "") -> RunStatus:
    """Return a run's status from its turn's state.

    A person, a parent and newer input cancel a run. A run that ended with its host failed.
    """
    if state == "completed":
        return "completed"
    if state == "interrupted" and cause in _INTENDED:
        return "cancelled"
    return "failed" if state in ("failed", "interrupted") else "running"
