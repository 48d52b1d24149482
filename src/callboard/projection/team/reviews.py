"""The review lane: one row a review, from its request to what was made of its verdict."""

from __future__ import annotations

from typing import Any

import msgspec

from callboard.contracts.facts import (
    Fact,
    InboxReserved,
    ReviewApplied,
    ReviewRequested,
    ReviewVerdict,
    SubagentCancelled,
    SubagentClosed,
)
from callboard.contracts.record import Record
from callboard.contracts.rows import Op, ReviewRow

from ..ops import upsert

#: The facts that change the lane.
TAKES: frozenset[type[Fact]] = frozenset(
    {ReviewRequested, ReviewVerdict, ReviewApplied, InboxReserved, SubagentCancelled, SubagentClosed}
)


class ReviewsPanel(msgspec.Struct):
    """`open` are the reviews whose verdict, or what is made of it, is outstanding; `items` those that wait in an inbox."""

    open: dict[str, ReviewRow] = msgspec.field(default_factory=dict[str, ReviewRow])
    items: dict[str, str] = msgspec.field(default_factory=dict[str, str])

    def apply(self, record: Record) -> list[Op]:
        """The operations that the fact leads to."""
        review, at = record.scope.review, record.header.at
        match record.fact:
            case ReviewRequested() as fact:
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
                    requested=at,
                )
                if fact.item:
                    self.items[fact.item] = review
                return upsert(row)
            case InboxReserved() as fact:
                told = [self.items.pop(item) for item in fact.items if item in self.items]
                return [op for one in told for op in self._change(one, record, state="reviewing")]
            case ReviewVerdict() as fact:
                ops = self._change(
                    review,
                    record,
                    state=fact.verdict,
                    reviewer=fact.reviewer,
                    summary=fact.summary,
                    refs=fact.refs,
                    fixes=fact.fixes,
                    judged=at,
                )
                if fact.verdict in ("passed", "failed"):
                    self.open.pop(review, None)
                return ops
            case ReviewApplied() as fact:
                ops = self._change(review, record, state="applied", assigned_to=fact.target)
                self.open.pop(review, None)
                return ops
            case SubagentCancelled() | SubagentClosed():
                return self._withdraw(record)
            case _:
                return []

    def _withdraw(self, record: Record) -> list[Op]:
        """No verdict will be given of the work of a child that was stopped: what it would have been is unknown."""
        mine = [key for key, row in self.open.items() if row.target == record.scope.agent]
        ops = [op for key in mine for op in self._change(key, record, state="unknown")]
        for key in mine:
            del self.open[key]
        return ops

    def _change(self, review: str, record: Record, **changes: Any) -> list[Op]:
        row = self.open.get(review)
        if row is None:
            return []
        row = self.open[review] = msgspec.structs.replace(row, sequence=record.sequence, **changes)
        return upsert(row)
