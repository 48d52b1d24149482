"""The handoff lane: one row a handoff, from its request to its end."""

from __future__ import annotations

from typing import Any

import msgspec

from callboard.contracts.facts import (
    Fact,
    HandoffAccepted,
    HandoffCompleted,
    HandoffRejected,
    HandoffRequested,
    ReplyEnded,
    TurnStarted,
)
from callboard.contracts.record import Record
from callboard.contracts.rows import HandoffRow, Op

from ..ops import upsert

#: The facts that change the lane.
TAKES: frozenset[type[Fact]] = frozenset(
    {HandoffRequested, HandoffAccepted, HandoffRejected, HandoffCompleted, ReplyEnded, TurnStarted}
)


class HandoffsPanel(msgspec.Struct):
    """`open` are the handoffs that are not over, `returned` those whose resume target has had no turn since."""

    open: dict[str, HandoffRow] = msgspec.field(default_factory=dict[str, HandoffRow])
    returned: dict[str, HandoffRow] = msgspec.field(default_factory=dict[str, HandoffRow])

    def apply(self, record: Record) -> list[Op]:
        """The operations that the fact leads to."""
        handoff, at = record.scope.handoff, record.header.at
        match record.fact:
            case TurnStarted():
                return self._resumed(record) if self.returned else []
            case HandoffRequested() as fact:
                row = self.open[handoff] = _requested(record, fact)
                return upsert(row)
            case HandoffAccepted() as fact:
                state = "active" if fact.ownership else "accepted"
                return self._change(record, state=state, accepted=at, answer_reason=fact.reason)
            case ReplyEnded() as fact:
                return self._change(record, reply=fact.end, reply_by=0)
            case HandoffRejected() as fact:
                ops = self._change(record, state="rejected", ended=at, answer_reason=fact.reason)
                self.open.pop(handoff, None)
                return ops
            case HandoffCompleted() as fact:
                state = "returned" if fact.returned else "completed"
                ops = self._change(record, state=state, ended=at)
                row = self.open.pop(handoff, None)
                if fact.returned and row is not None:
                    self.returned[handoff] = row
                return ops
            case _:
                return []

    def _change(self, record: Record, **changes: Any) -> list[Op]:
        row = self.open.get(record.scope.handoff)
        if row is None:
            return []
        row = self.open[row.key] = msgspec.structs.replace(row, sequence=record.sequence, **changes)
        return upsert(row)

    def _resumed(self, record: Record) -> list[Op]:
        """The resume target's next turn resumes what came back to it."""
        mine = [row for row in self.returned.values() if row.resume_target == record.scope.agent]
        for row in mine:
            del self.returned[row.key]
        return upsert(*(msgspec.structs.replace(row, sequence=record.sequence, state="resumed") for row in mine))


def _requested(record: Record, fact: HandoffRequested) -> HandoffRow:
    return HandoffRow(
        key=record.scope.handoff,
        order=record.sequence,
        sequence=record.sequence,
        source=fact.source,
        target=fact.target,
        edge=fact.edge,
        state="handoff_requested",
        payload=fact.payload,
        artifacts=fact.artifacts,
        unresolved=fact.unresolved,
        context_ref=fact.context_ref,
        meta=fact.meta,
        reason=fact.reason,
        confirm=fact.confirm,
        ownership=fact.ownership,
        resume_target=fact.resume_target,
        context_boundary=fact.context_boundary,
        requested=record.header.at,
        reply_by=fact.reply_by,
        reply="awaited" if fact.reply_by else "",
    )
