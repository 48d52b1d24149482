"""What parents are told of their children, and whether a turn of theirs was told it."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from callboard.contracts.facts import Fact, InboxConsumed, WorkerNotification
from callboard.contracts.record import Record
from callboard.contracts.rows import NotificationRow, Op

from ..ops import upsert
from .agent import Member

#: The facts that change the notifications.
TAKES: frozenset[type[Fact]] = frozenset({WorkerNotification, InboxConsumed})


class NotificationsPanel(msgspec.Struct):
    """`waiting` are the notifications that no turn was told yet, by item."""

    waiting: dict[str, NotificationRow] = msgspec.field(default_factory=dict[str, NotificationRow])

    def apply(self, record: Record, members: Mapping[str, Member]) -> list[Op]:
        """The operations that the fact leads to. What a call waited for was told by its result."""
        match record.fact:
            case WorkerNotification() as fact:
                parent = members.get(fact.to_thread)
                row = _row(record, fact, parent.card.agent_id if parent is not None else "")
                if fact.item:
                    self.waiting[fact.item] = row
                return upsert(row)
            case InboxConsumed() as fact:
                told = [row for item in fact.items if (row := self.waiting.pop(item, None)) is not None]
                return upsert(*(msgspec.structs.replace(row, sequence=record.sequence, consumed=True) for row in told))
            case _:
                return []


def _row(record: Record, fact: WorkerNotification, parent: str) -> NotificationRow:
    scope = record.scope
    return NotificationRow(
        key=record.event_id,
        order=record.sequence,
        sequence=record.sequence,
        agent_id=scope.agent,
        parent_agent_id=parent,
        task_id=scope.task,
        status=fact.status,
        summary=fact.summary,
        result=fact.result,
        transcript=fact.transcript,
        usage=fact.usage,
        at=record.header.at,
        consumed=not fact.item,
        plain_text=fact.plain_text,
    )
