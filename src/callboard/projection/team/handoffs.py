"""The handoff lane: one row per handoff."""

from __future__ import annotations

from typing import Any

import msgspec

from callboard.contracts.facts.exchange.handoff import (
    HandoffAccepted,
    HandoffCompleted,
    HandoffRejected,
    HandoffRequested,
    ReplyEnded,
)
from callboard.contracts.facts.turn import TurnStarted
from callboard.contracts.record import Record
from callboard.contracts.rows.base import Op
from callboard.contracts.rows.exchange.handoff import HandoffRow

from ..reducer import Panel, on, upsert


class HandoffsPanel(Panel):
    """Handoffs in progress in `open`; in `returned` those whose resume target has had no turn since."""

    open: dict[str, HandoffRow] = msgspec.field(default={})
    returned: dict[str, HandoffRow] = msgspec.field(default={})

    @on
    def request(self, record: Record, fact: HandoffRequested) -> list[Op]:
        row = self.open[record.scope.handoff] = HandoffRow(
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
        return upsert(row)

    @on
    def accept(self, record: Record, fact: HandoffAccepted) -> list[Op]:
        state = "active" if fact.ownership else "accepted"
        return self._change(record, state=state, accepted=record.header.at, answer_reason=fact.reason)

    @on
    def reject(self, record: Record, fact: HandoffRejected) -> list[Op]:
        ops = self._change(record, state="rejected", ended=record.header.at, answer_reason=fact.reason)
        self.open.pop(record.scope.handoff, None)
        return ops

    @on
    def complete(self, record: Record, fact: HandoffCompleted) -> list[Op]:
        ops = self._change(record, state="returned" if fact.returned else "completed", ended=record.header.at)
        row = self.open.pop(record.scope.handoff, None)
        if fact.returned and row is not None:
            self.returned[row.key] = row
        return ops

    @on
    def end_reply(self, record: Record, fact: ReplyEnded) -> list[Op]:
        return self._change(record, reply=fact.end, reply_by=0)

    @on
    def resume(self, record: Record, fact: TurnStarted) -> list[Op]:
        """Resume the handoffs that returned to this agent."""
        resumed = [row for row in self.returned.values() if row.resume_target == record.scope.agent]
        for row in resumed:
            del self.returned[row.key]
        return upsert(*(msgspec.structs.replace(row, sequence=record.sequence, state="resumed") for row in resumed))

    def _change(self, record: Record, **changes: Any) -> list[Op]:
        row = self.open.get(record.scope.handoff)
        if row is None:
            return []
        row = self.open[row.key] = msgspec.structs.replace(row, sequence=record.sequence, **changes)
        return upsert(row)
