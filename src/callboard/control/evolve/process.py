"""Processes that go on in the background."""

from __future__ import annotations

from typing import assert_never

import msgspec

from callboard.contracts.facts.process import (
    ProcessEnded,
    ProcessFact,
    ProcessInputGiven,
    ProcessStarted,
    ProcessStopRequested,
)

from ..state.session import Session
from ..state.team import OpenProcess
from .fact_context import FactContext


def apply(state: Session, fact: ProcessFact, place: FactContext) -> Session:
    """Return the state after a fact."""
    match fact:
        case ProcessStarted():
            return started(state, place)
        case ProcessStopRequested():
            return stopping(state, place)
        case ProcessEnded():
            return ended(state, place)
        case ProcessInputGiven():
            return state
        case _:
            assert_never(fact)


def started(state: Session, place: FactContext) -> Session:
    scope = place.scope
    found = OpenProcess(process=scope.process, scope=scope, epoch=place.epoch)
    return msgspec.structs.replace(state, processes={**state.processes, found.process: found})


def stopping(state: Session, place: FactContext) -> Session:
    found = state.processes.get(place.scope.process)
    if found is None:
        return state
    changed = msgspec.structs.replace(found, stopping=True)
    return msgspec.structs.replace(state, processes={**state.processes, found.process: changed})


def ended(state: Session, place: FactContext) -> Session:
    left = {key: one for key, one in state.processes.items() if key != place.scope.process}
    return msgspec.structs.replace(state, processes=left)
