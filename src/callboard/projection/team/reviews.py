"""The review lane: one row per review."""

from __future__ import annotations

from typing import Any

import msgspec

from callboard.contracts.facts.exchange.inbox import InboxReserved
from callboard.contracts.facts.exchange.review import ReviewApplied, ReviewRequested, ReviewVerdict
from callboard.contracts.facts.subagent import SubagentCancelled, SubagentClosed
from callboard.contracts.record import Record
from callboard.contracts.rows.base import Op
from callboard.contracts.rows.exchange.review import ReviewRow

from ..reducer import Panel, on, upsert


class ReviewsPanel(Panel):
    """Reviews in progress in `open`; in `items` the review of each item that waits in an inbox."""

    open: dict[str, ReviewRow] = msgspec.field(default={})
    items: dict[str, str] = msgspec.field(default={})

    @on
    def request(self, record: Record, fact: ReviewRequested) -> list[Op]:
        review = record.scope.review
        row = self.open[review] = ReviewRow(
            key=review,
            order=record.sequence,
            sequence=record.sequence,
            reviewer=fact.reviewer,
            target=fact.target,
            task_id=record.scope.task,
            state="requested",
            instructions=fact.instructions,
            refs=fact.refs,
            requested=record.header.at,
        )
        if fact.item:
            self.items[fact.item] = review
        return upsert(row)

    @on
    def start(self, record: Record, fact: InboxReserved) -> list[Op]:
        reviews = [self.items.pop(item) for item in fact.items if item in self.items]
        return [op for review in reviews for op in self._change(review, record, state="reviewing")]

    @on
    def judge(self, record: Record, fact: ReviewVerdict) -> list[Op]:
        ops = self._change(
            record.scope.review,
            record,
            state=fact.verdict,
            reviewer=fact.reviewer,
            summary=fact.summary,
            refs=fact.refs,
            fixes=fact.fixes,
            judged=record.header.at,
        )
        if fact.verdict in ("passed", "failed"):
            self.open.pop(record.scope.review, None)
        return ops

    @on
    def apply_fixes(self, record: Record, fact: ReviewApplied) -> list[Op]:
        ops = self._change(record.scope.review, record, state="applied", assigned_to=fact.target)
        self.open.pop(record.scope.review, None)
        return ops

    @on
    def withdraw(self, record: Record, fact: SubagentCancelled | SubagentClosed) -> list[Op]:
        """End the reviews of a stopped child's work. Their verdict is unknown."""
        reviews = [key for key, row in self.open.items() if row.target == record.scope.agent]
        ops = [op for review in reviews for op in self._change(review, record, state="unknown")]
        for review in reviews:
            del self.open[review]
        return ops

    def _change(self, review: str, record: Record, **changes: Any) -> list[Op]:
        row = self.open.get(review)
        if row is None:
            return []
        row = self.open[review] = msgspec.structs.replace(row, sequence=record.sequence, **changes)
        return upsert(row)
