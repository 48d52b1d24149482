"""Parts at the end of a run, and steers."""

from __future__ import annotations

import msgspec

from callboard.contracts.facts.queue import SteerAccepted, SteerRejected, SteerRequested
from callboard.contracts.facts.turn import TurnCompleted, TurnFailed, TurnInterrupted
from callboard.contracts.record import Record
from callboard.contracts.rows.base import Op
from callboard.contracts.rows.part import ErrorPart, PartState
from callboard.contracts.rows.queue import SteerPart

from ..reducer import on, upsert
from .run import LAST_STEP, OpenRun


@on
def complete(run: OpenRun, record: Record, fact: TurnCompleted) -> list[Op]:
    return _end_plan(run, record, "final")


@on
def interrupt(run: OpenRun, record: Record, fact: TurnInterrupted) -> list[Op]:
    return _end_plan(run, record, "interrupted")


@on
def fail(run: OpenRun, record: Record, fact: TurnFailed) -> list[Op]:
    error = ErrorPart(
        **run.position.build_aside_fields(record, LAST_STEP),
        code=fact.code,
        message=fact.message,
        hint=fact.hint,
        retryable=fact.retryable,
    )
    return [*_end_plan(run, record, "interrupted"), *upsert(error)]


@on
def request_steer(run: OpenRun, record: Record, fact: SteerRequested) -> list[Op]:
    """Add a pending steer at the end of the turn."""
    row = run.steers[fact.steer_id] = SteerPart(
        **run.position.build_aside_fields(record, LAST_STEP),
        steer_id=fact.steer_id,
        outcome="pending",
        content=fact.input,
        given=fact.given,
        missing=fact.missing,
    )
    return upsert(row)


@on
def accept_steer(run: OpenRun, record: Record, fact: SteerAccepted) -> list[Op]:
    """Move the steer before the answer to it."""
    row, order = run.steers.pop(fact.steer_id, None), run.position.compute_order(record.scope.step)
    if row is None:
        return []
    return upsert(msgspec.structs.replace(row, sequence=record.sequence, order=order, outcome="accepted"))


@on
def reject_steer(run: OpenRun, record: Record, fact: SteerRejected) -> list[Op]:
    """Mark the steer as rejected. It remains at the end."""
    row = run.steers.pop(fact.steer_id, None)
    if row is None:
        return []
    return upsert(msgspec.structs.replace(row, sequence=record.sequence, outcome="rejected", reason=fact.reason))


def _end_plan(run: OpenRun, record: Record, state: PartState) -> list[Op]:
    if run.plan is None or run.plan.state == "final":
        return []
    return upsert(msgspec.structs.replace(run.plan, sequence=record.sequence, state=state))
