"""Context parts: the context of a turn, and compactions. A summary is not an answer (UI-25)."""

from __future__ import annotations

import msgspec

from callboard.contracts.facts.context import CompactionCompleted, CompactionFailed, CompactionStarted, ContextResolved
from callboard.contracts.record import Record
from callboard.contracts.rows.base import Op
from callboard.contracts.rows.context import ContextPart

from ..reducer import upsert
from .run import OpenRun, aside_key, step_key


def resolve(run: OpenRun, record: Record, fact: ContextResolved) -> list[Op]:
    """Add the turn's own context, and what is missing or omitted. The folder's context is not shown."""
    given = sum(ref.source != "folder" for ref in fact.refs)
    missing = tuple(ref for ref in fact.missing if ref.source != "folder")
    omitted = tuple(ref for ref in fact.omitted if ref.reason not in ("excluded", "compacted"))
    if not (given or missing or omitted):
        return []
    key = aside_key(run.place.run, record.sequence)
    part = ContextPart(
        **run.place.fields(record, key, run.step), event="resolved", given=given, missing=missing, omitted=omitted
    )
    return upsert(part)


def compact(run: OpenRun, record: Record, fact: CompactionStarted | CompactionCompleted | CompactionFailed) -> list[Op]:
    """Add or change the part of a compaction, at the step of its model call."""
    part = run.compaction
    if part is None or isinstance(fact, CompactionStarted):
        part = ContextPart(**run.place.fields(record, step_key(record), record.scope.step), event="compacting")
    match fact:
        case CompactionStarted(cause=cause, tokens=tokens):
            part = msgspec.structs.replace(part, cause=cause, tokens_before=tokens)
        case CompactionCompleted():
            part = msgspec.structs.replace(
                part,
                event="compacted",
                summary=fact.summary,
                said=len(fact.said),
                tokens_before=fact.tokens_before,
                tokens_after=fact.tokens_after,
            )
        case CompactionFailed(code=code, message=message):
            part = msgspec.structs.replace(part, event="compaction_failed", code=code, message=message)
    part = msgspec.structs.replace(part, sequence=record.sequence)
    run.compaction = part if isinstance(fact, CompactionStarted) else None
    return upsert(part)
