"""Facts of background processes."""

from __future__ import annotations

from typing import assert_never

from msgspec.structs import replace

from callboard.contracts.facts.process import (
    ProcessEnded,
    ProcessFact,
    ProcessInputGiven,
    ProcessStarted,
    ProcessStopRequested,
)

from ..state.process import OpenProcess
from ..state.session import Session
from .fact_context import FactContext, drop_entry


def apply(state: Session, fact: ProcessFact, context: FactContext) -> Session:
    process_id = context.scope.process
    match fact:
        case ProcessStarted():
            process = OpenProcess(process=process_id, scope=context.scope, epoch=context.epoch)
            return replace(state, processes={**state.processes, process_id: process})
        case ProcessStopRequested():
            process = state.processes.get(process_id)
            if process is None:
                return state
            return replace(state, processes={**state.processes, process_id: replace(process, stopping=True)})
        case ProcessEnded():
            return replace(state, processes=drop_entry(state.processes, process_id))
        case ProcessInputGiven():
            return state
        case _:
            assert_never(fact)
