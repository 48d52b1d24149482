"""Where the context of a turn changed: what it was given or lacks, and a summary in the making and what came of it. A summary
is no answer: it is shown on demand, and as what it is (UI-25)."""

from __future__ import annotations

from typing import Any

import msgspec

from callboard.contracts.facts import CompactionCompleted, CompactionFailed, CompactionStarted, ContextResolved
from callboard.contracts.record import Record
from callboard.contracts.rows import ContextPart, Op

from ..reducer import upsert
from .run import OpenRun, aside_key, step_key


def resolved(run: OpenRun, record: Record, fact: ContextResolved) -> list[Op]:
    """What came with the turn or was named in it, and what is missing or left out; what always stands there is no news."""
    given = sum(ref.source != "folder" for ref in fact.refs)
    missing = tuple(one for one in fact.missing if one.source != "folder")
    omitted = tuple(one for one in fact.omitted if one.reason not in ("excluded", "compacted"))
    if not (given or missing or omitted):
        return []
    key = aside_key(run.place.run, record.sequence)
    part = ContextPart(
        **_common(run, record, key, run.step), event="resolved", given=given, missing=missing, omitted=omitted
    )
    return upsert(part)


def compaction(
    run: OpenRun, record: Record, fact: CompactionStarted | CompactionCompleted | CompactionFailed
) -> list[Op]:
    """One part through all of it, at the step of the model call that makes the summary."""
    part = run.compaction
    if part is None or isinstance(fact, CompactionStarted):
        part = ContextPart(**_common(run, record, step_key(record), record.scope.step), event="compacting")
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


def _common(run: OpenRun, record: Record, key: str, step: int) -> dict[str, Any]:
    return {
        "key": key,
        "order": run.place.order(step),
        "sequence": record.sequence,
        "turn_id": run.place.turn,
        "thread_id": run.place.thread,
        "at": record.header.at,
    }
