"""Context: one row per thread, with the newest run's refs, omissions and token usage."""

from __future__ import annotations

from typing import Any

import msgspec

from callboard.contracts.facts.context import (
    CompactionCompleted,
    CompactionFailed,
    CompactionStarted,
    ContextPinned,
    ContextResolved,
)
from callboard.contracts.facts.model import CostRecorded
from callboard.contracts.facts.turn import TurnStarted
from callboard.contracts.record import Record
from callboard.contracts.rows.base import Op
from callboard.contracts.rows.context import ContextRow

from .reducer import upsert


class ContextPanel(msgspec.Struct):
    """The rows by thread. `compacting` are the threads with a compaction in progress."""

    rows: dict[str, ContextRow] = msgspec.field(default_factory=dict[str, ContextRow])
    compacting: set[str] = msgspec.field(default_factory=set[str])

    def apply(self, record: Record) -> list[Op]:
        """Return the row operations of the fact."""
        thread = record.scope.thread
        match record.fact:
            case ContextResolved() as fact:
                return self._change(
                    record,
                    turn_id=record.scope.turn,
                    refs=fact.refs,
                    missing=fact.missing,
                    omitted=fact.omitted,
                    window=fact.window,
                    budget=fact.budget,
                    used=fact.used,
                )
            case ContextPinned(pinned=pinned):
                return self._change(record, pinned=pinned)
            case TurnStarted() if thread in self.rows:
                return self._change(record, turn_id=record.scope.turn, refs=(), missing=(), omitted=())
            case CompactionStarted():
                self.compacting.add(thread)
                return []
            case CompactionCompleted(tokens_after=after):
                self.compacting.discard(thread)
                return self._change(record, used=after) if thread in self.rows else []
            case CompactionFailed():
                self.compacting.discard(thread)
                return []
            case CostRecorded(input_tokens=tokens) as fact if (
                tokens and thread in self.rows and thread not in self.compacting
            ):
                return self._change(record, used=tokens + (fact.output_tokens or 0))
            case _:
                return []

    def _change(self, record: Record, **changes: Any) -> list[Op]:
        thread = record.scope.thread
        row = self.rows.get(thread) or ContextRow(
            key=thread, order=record.sequence, sequence=record.sequence, thread_id=thread
        )
        row = self.rows[thread] = msgspec.structs.replace(row, sequence=record.sequence, **changes)
        return upsert(row)
