"""One row a thread: what its newest run was given beside words, what was left out, and how full its model's window is."""

from __future__ import annotations

from typing import Any

import msgspec

from callboard.contracts.facts import (
    CompactionCompleted,
    CompactionFailed,
    CompactionStarted,
    ContextPinned,
    ContextResolved,
    CostRecorded,
    TurnStarted,
)
from callboard.contracts.record import Record
from callboard.contracts.rows import ContextRow, Op

from .reducer import upsert


class ContextPanel(msgspec.Struct):
    """`rows` are those of threads of which there is something to say, by thread; `summing` are those whose older part is being
    summarised."""

    rows: dict[str, ContextRow] = msgspec.field(default_factory=dict[str, ContextRow])
    summing: set[str] = msgspec.field(default_factory=set[str])

    def apply(self, record: Record) -> list[Op]:
        """The operations that the fact leads to."""
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
                self.summing.add(thread)
                return []
            case CompactionCompleted(tokens_after=after):
                self.summing.discard(thread)
                return self._change(record, used=after) if thread in self.rows else []
            case CompactionFailed():
                self.summing.discard(thread)
                return []
            case CostRecorded(input_tokens=told) as fact if told and thread in self.rows and thread not in self.summing:
                return self._change(record, used=told + (fact.output_tokens or 0))
            case _:
                return []

    def _change(self, record: Record, **changes: Any) -> list[Op]:
        thread = record.scope.thread
        row = self.rows.get(thread) or ContextRow(
            key=thread, order=record.sequence, sequence=record.sequence, thread_id=thread
        )
        row = self.rows[thread] = msgspec.structs.replace(row, sequence=record.sequence, **changes)
        return upsert(row)
