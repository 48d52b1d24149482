"""Parts outside of the model's steps: steers, notices and errors."""

from __future__ import annotations

from typing import Any

import msgspec

from callboard.contracts.facts.base import UnknownFact
from callboard.contracts.facts.evidence import EvidenceExported
from callboard.contracts.facts.model import ModelFailed, QuotaReported
from callboard.contracts.facts.queue import SteerAccepted, SteerRejected, SteerRequested
from callboard.contracts.facts.session import ErrorRaised, ThreadPaused, WarningRaised
from callboard.contracts.facts.subagent import SubagentMerged
from callboard.contracts.facts.turn import TurnFailed
from callboard.contracts.record import Record
from callboard.contracts.rows.base import Op
from callboard.contracts.rows.conversation import ErrorPart, NoticePart, SteerPart

from ..reducer import upsert
from .run import LAST_STEP, OpenRun, PartPosition, aside_key, retry_key

#: Maximum number of conflicting files in a notice.
_NAMED = 5


def add_steer(run: OpenRun, record: Record, fact: SteerRequested) -> list[Op]:
    """Add a pending steer at the end of the turn."""
    row = run.steers[fact.steer_id] = SteerPart(
        **_fields(run.place, LAST_STEP, record),
        steer_id=fact.steer_id,
        outcome="pending",
        content=fact.input,
        given=fact.given,
        missing=fact.missing,
    )
    return upsert(row)


def settle_steer(run: OpenRun, record: Record, fact: SteerAccepted | SteerRejected) -> list[Op]:
    """Move an accepted steer before the answer to it. A rejected steer remains at the end."""
    row = run.steers.pop(fact.steer_id, None)
    if row is None:
        return []
    if isinstance(fact, SteerRejected):
        return upsert(msgspec.structs.replace(row, sequence=record.sequence, outcome="rejected", reason=fact.reason))
    order = run.place.order(record.scope.step)
    return upsert(msgspec.structs.replace(row, sequence=record.sequence, order=order, outcome="accepted"))


def add_notice(run: OpenRun, record: Record) -> list[Op]:
    """Add a milestone, a warning or an error within an open run."""
    return _aside(run.place, run.step, record)


def add_notice_after(place: PartPosition | None, record: Record) -> list[Op]:
    """Add a notice outside of open runs: at the end of the thread's newest run, or alone without a run."""
    scope = record.scope
    if place is None:
        place = PartPosition(turn=scope.turn, thread=scope.thread, run=scope.run, started=record.sequence)
    return _aside(place, LAST_STEP, record)


def _aside(place: PartPosition, step: int, record: Record) -> list[Op]:
    match record.fact:
        case TurnFailed() as fact:
            return upsert(
                ErrorPart(
                    **_fields(place, LAST_STEP, record),
                    code=fact.code,
                    message=fact.message,
                    hint=fact.hint,
                    retryable=fact.retryable,
                )
            )
        case ErrorRaised() as fact:
            fields = _fields(place, step, record)
            return upsert(ErrorPart(**fields, code=fact.code, message=fact.message, hint=fact.hint))
        case _:
            notice = _notice(record)
            if notice is None:
                return []
            fields = _fields(place, step, record)
            if isinstance(record.fact, ModelFailed):
                # All retries of a call share one notice.
                fields["key"] = retry_key(place.run, record.scope.step)
            return upsert(NoticePart(**fields, **notice))


def _notice(record: Record) -> dict[str, Any] | None:
    """Return the code and text of a notice; None for other facts."""
    match record.fact:
        case ModelFailed() as fact if fact.retry_in_ms is not None:
            wait = {"retry_in_ms": fact.retry_in_ms, "attempt": fact.attempt + 1}
            return {"code": fact.code, "message": fact.message, **wait}
        case QuotaReported() as fact:
            return {"code": "model_limits", "message": _limits(fact)}
        case WarningRaised() as fact:
            return {"code": fact.code, "message": fact.message, "hint": fact.hint}
        case ThreadPaused() as fact:
            return {"code": f"paused_{fact.cause}", "message": fact.reason}
        case SubagentMerged() as fact:
            return {"code": f"merge_{fact.status}", "message": _merged(fact), "agent_id": record.scope.agent}
        case EvidenceExported() as fact:
            return {"code": "evidence_exported", "message": f"Evidence of the facts 1 to {fact.through} was exported."}
        case UnknownFact():
            return {"code": "unknown_fact", "message": record.header.type}
        case _:
            return None


def _limits(fact: QuotaReported) -> str:
    """Return the text of a provider's limits."""
    if fact.exhausted:
        return f"The quota of {fact.provider} is used up."
    left = [
        f"{limit.remaining} of {limit.limit} {limit.what.replace('_', ' ')} left"
        for limit in fact.limits
        if limit.limit is not None and limit.remaining is not None
    ]
    nearly = "" if fact.retry_after_ms is not None else "nearly "
    return f"The limits of {fact.provider} are {nearly}reached{': ' + ', '.join(left) if left else ''}."


def _merged(fact: SubagentMerged) -> str:
    """Return the text of a merge's result."""
    match fact.status:
        case "merged":
            return f"{fact.files[0] if len(fact.files) == 1 else f'{len(fact.files)} files'} merged."
        case "nothing_to_merge":
            return "There was nothing to merge."
        case "conflict":
            return f"Nothing was merged, because of conflicts in {', '.join(fact.conflict[:_NAMED])}."
        case _:
            return fact.message or "The result of the merge is unknown."


def _fields(place: PartPosition, step: int, record: Record) -> dict[str, Any]:
    return place.fields(record, aside_key(place.run, record.sequence), step)
