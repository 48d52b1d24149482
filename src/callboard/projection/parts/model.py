"""Parts of model calls: the notice of a retry, and a provider's limits."""

from __future__ import annotations

from callboard.contracts.facts.model import ModelFailed, ModelRequested, QuotaReported
from callboard.contracts.record import Record
from callboard.contracts.rows.base import Op
from callboard.contracts.rows.part import NoticePart

from ..reducer import on, upsert
from .run import OpenRun, build_retry_key


@on
def request(run: OpenRun, record: Record, fact: ModelRequested) -> list[Op]:
    run.model_calls += 1
    run.asked_sequence, run.asked_at = record.sequence, record.header.at
    return []


@on
def fail(run: OpenRun, record: Record, fact: ModelFailed) -> list[Op]:
    """Add the notice of a retry. All retries of a call share one notice."""
    run.model_calls += 1
    if fact.retry_in_ms is None:
        return []
    fields = run.position.build_fields(record, build_retry_key(run.position.run, record.scope.step), run.step)
    notice = NoticePart(
        **fields, code=fact.code, message=fact.message, retry_in_ms=fact.retry_in_ms, attempt=fact.attempt + 1
    )
    return upsert(notice)


@on
def report_limits(run: OpenRun, record: Record, fact: QuotaReported) -> list[Op]:
    fields = run.position.build_aside_fields(record, run.step)
    return upsert(NoticePart(**fields, code="model_limits", message=_format_limits(fact)))


def _format_limits(fact: QuotaReported) -> str:
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
