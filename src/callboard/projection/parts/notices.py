"""Parts that no step of the model brought: input steered into the turn, notices, and the error that ended it."""

from __future__ import annotations

from typing import Any

import msgspec

from callboard.contracts.facts import (
    ErrorRaised,
    EvidenceExported,
    ModelFailed,
    QuotaReported,
    SteerAccepted,
    SteerRejected,
    SteerRequested,
    SubagentMerged,
    ThreadPaused,
    TurnFailed,
    UnknownFact,
    WarningRaised,
)
from callboard.contracts.record import Record
from callboard.contracts.rows import ErrorPart, NoticePart, Op, SteerPart

from ..reducer import upsert
from .run import LAST_STEP, OpenRun, PartPosition, aside_key, retry_key

#: How many files in conflict a notice names.
_NAMED = 5


def steered(run: OpenRun, record: Record, fact: SteerRequested) -> list[Op]:
    """Input that waits for a model call stands at the end of the turn."""
    row = run.steers[fact.steer_id] = SteerPart(
        **_common(run.place, LAST_STEP, record),
        steer_id=fact.steer_id,
        outcome="pending",
        content=fact.input,
        given=fact.given,
        missing=fact.missing,
    )
    return upsert(row)


def steer_settled(run: OpenRun, record: Record, fact: SteerAccepted | SteerRejected) -> list[Op]:
    """Accepted, it stands before the answer of the model call that included it; rejected, it stays at the end."""
    row = run.steers.pop(fact.steer_id, None)
    if row is None:
        return []
    if isinstance(fact, SteerRejected):
        return upsert(msgspec.structs.replace(row, sequence=record.sequence, outcome="rejected", reason=fact.reason))
    order = run.place.order(record.scope.step)
    return upsert(msgspec.structs.replace(row, sequence=record.sequence, order=order, outcome="accepted"))


def noted(run: OpenRun, record: Record) -> list[Op]:
    """A milestone, a warning or an error within an open run."""
    return _aside(run.place, run.step, record)


def noted_after(place: PartPosition | None, record: Record) -> list[Op]:
    """A fact that belongs to no open run stands at the end of its thread's newest, or by itself where there is none."""
    scope = record.scope
    if place is None:
        place = PartPosition(turn=scope.turn, thread=scope.thread, run=scope.run, started=record.sequence)
    return _aside(place, LAST_STEP, record)


def _aside(place: PartPosition, step: int, record: Record) -> list[Op]:
    match record.fact:
        case TurnFailed() as fact:
            return upsert(
                ErrorPart(
                    **_common(place, LAST_STEP, record),
                    code=fact.code,
                    message=fact.message,
                    hint=fact.hint,
                    retryable=fact.retryable,
                )
            )
        case ErrorRaised() as fact:
            common = _common(place, step, record)
            return upsert(ErrorPart(**common, code=fact.code, message=fact.message, hint=fact.hint))
        case _:
            notice = _notice(record)
            if notice is None:
                return []
            common = _common(place, step, record)
            if isinstance(record.fact, ModelFailed):
                # However often the call is tried again, its notice is one line.
                common["key"] = retry_key(place.run, record.scope.step)
            return upsert(NoticePart(**common, **notice))


def _notice(record: Record) -> dict[str, Any] | None:
    """The words of a notice. A fact of a type that this version does not know is shown as that."""
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
    """What a provider said of its limits."""
    if fact.exhausted:
        return f"The quota of {fact.provider} is used up."
    left = [
        f"{one.remaining} of {one.limit} {one.what.replace('_', ' ')} left"
        for one in fact.limits
        if one.limit is not None and one.remaining is not None
    ]
    nearly = "" if fact.retry_after_ms is not None else "nearly "
    return f"The limits of {fact.provider} are {nearly}reached{': ' + ', '.join(left) if left else ''}."


def _merged(fact: SubagentMerged) -> str:
    """What came of a merge that a person asked for."""
    match fact.status:
        case "merged":
            return f"{fact.files[0] if len(fact.files) == 1 else f'{len(fact.files)} files'} merged."
        case "nothing_to_merge":
            return "There was nothing to merge."
        case "conflict":
            return f"Nothing was merged, because of conflicts in {', '.join(fact.conflict[:_NAMED])}."
        case _:
            return fact.message or "What came of the merge is not known."


def _common(place: PartPosition, step: int, record: Record) -> dict[str, Any]:
    return {
        "key": aside_key(place.run, record.sequence),
        "order": place.order(step),
        "sequence": record.sequence,
        "turn_id": place.turn,
        "thread_id": place.thread,
        "at": record.header.at,
    }
