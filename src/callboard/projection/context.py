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

from .reducer import Panel, on, upsert


class ContextPanel(Panel):
    """The rows by thread. `compacting` are the threads with a compaction in progress."""

    rows: dict[str, ContextRow] = msgspec.field(default={})
    compacting: set[str] = msgspec.field(default=set())

    @on
    def resolve(self, record: Record, fact: ContextResolved) -> list[Op]:
        return self._put(
            record,
            turn_id=record.scope.turn,
            refs=fact.refs,
            missing=fact.missing,
            omitted=fact.omitted,
            window=fact.window,
            budget=fact.budget,
            used=fact.used,
        )

    @on
    def pin(self, record: Record, fact: ContextPinned) -> list[Op]:
        return self._put(record, pinned=fact.pinned)

    @on
    def start_turn(self, record: Record, fact: TurnStarted) -> list[Op]:
        return self._change(record, turn_id=record.scope.turn, refs=(), missing=(), omitted=())

    @on
    def start_compaction(self, record: Record, fact: CompactionStarted) -> list[Op]:
        self.compacting.add(record.scope.thread)
        return []

    @on
    def complete_compaction(self, record: Record, fact: CompactionCompleted) -> list[Op]:
        self.compacting.discard(record.scope.thread)
        return self._change(record, used=fact.tokens_after)

    @on
    def fail_compaction(self, record: Record, fact: CompactionFailed) -> list[Op]:
        self.compacting.discard(record.scope.thread)
        return []

    @on
    def add_usage(self, record: Record, fact: CostRecorded) -> list[Op]:
        if not fact.input_tokens or record.scope.thread in self.compacting:
            return []
        return self._change(record, used=fact.input_tokens + (fact.output_tokens or 0))

    def _change(self, record: Record, **changes: Any) -> list[Op]:
        """Change the thread's row; nothing without a row."""
        return self._put(record, **changes) if record.scope.thread in self.rows else []

    def _put(self, record: Record, **changes: Any) -> list[Op]:
        thread = record.scope.thread
        row = self.rows.get(thread) or ContextRow(
            key=thread, order=record.sequence, sequence=record.sequence, thread_id=thread
        )
        row = self.rows[thread] = msgspec.structs.replace(row, sequence=record.sequence, **changes)
        return upsert(row)
