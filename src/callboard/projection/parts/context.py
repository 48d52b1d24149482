"""Context parts: the context of a turn, and compactions. A summary is not an answer (UI-25)."""

from __future__ import annotations

from typing import Any

import msgspec

from callboard.contracts.facts.context import CompactionCompleted, CompactionFailed, CompactionStarted, ContextResolved
from callboard.contracts.record import Record
from callboard.contracts.rows.base import Op
from callboard.contracts.rows.context import ContextPart

from ..reducer import on, upsert
from .run import OpenRun, build_step_key


@on
def resolve(run: OpenRun, record: Record, fact: ContextResolved) -> list[Op]:
    """Add the turn's own context, and what is missing or omitted. The folder's context is not shown."""
    refs = sum(ref.source != "folder" for ref in fact.refs)
    missing = tuple(ref for ref in fact.missing if ref.source != "folder")
    omitted = tuple(ref for ref in fact.omitted if ref.reason not in ("excluded", "compacted"))
    if not (refs or missing or omitted):
        return []
    fields = run.position.build_aside_fields(record, run.step)
    return upsert(ContextPart(**fields, event="resolved", given=refs, missing=missing, omitted=omitted))


@on
def start_compaction(run: OpenRun, record: Record, fact: CompactionStarted) -> list[Op]:
    run.compaction = _build_compaction(record, run, cause=fact.cause, tokens_before=fact.tokens)
    return upsert(run.compaction)


@on
def complete_compaction(run: OpenRun, record: Record, fact: CompactionCompleted) -> list[Op]:
    return _end_compaction(
        run,
        record,
        event="compacted",
        summary=fact.summary,
        said=len(fact.said),
        tokens_before=fact.tokens_before,
        tokens_after=fact.tokens_after,
    )


@on
def fail_compaction(run: OpenRun, record: Record, fact: CompactionFailed) -> list[Op]:
    return _end_compaction(run, record, event="compaction_failed", code=fact.code, message=fact.message)


def _end_compaction(run: OpenRun, record: Record, **fields: Any) -> list[Op]:
    part = run.compaction or _build_compaction(record, run)
    run.compaction = None
    return upsert(msgspec.structs.replace(part, sequence=record.sequence, **fields))


def _build_compaction(record: Record, run: OpenRun, **fields: Any) -> ContextPart:
    """Return the part of a compaction, at the step of its model call."""
    position_fields = run.position.build_fields(record, build_step_key(record), record.scope.step)
    return ContextPart(**position_fields, event="compacting", **fields)
