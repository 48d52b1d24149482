"""Notifications about children, for their parents."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from callboard.contracts.facts.exchange.inbox import InboxConsumed
from callboard.contracts.facts.subagent import WorkerNotification
from callboard.contracts.record import Record
from callboard.contracts.rows.base import Op
from callboard.contracts.rows.subagent import NotificationRow

from ..reducer import Panel, on, upsert
from .agent import Member


class NotificationsPanel(Panel):
    """Notifications of children. `waiting` maps the items that no turn of the parent has received to
    their notifications."""

    waiting: dict[str, NotificationRow] = msgspec.field(default={})

    @on
    def notify(self, record: Record, fact: WorkerNotification, members: Mapping[str, Member]) -> list[Op]:
        scope, parent = record.scope, members.get(fact.to_thread)
        row = NotificationRow(
            key=record.event_id,
            order=record.sequence,
            sequence=record.sequence,
            agent_id=scope.agent,
            parent_agent_id=parent.card.agent_id if parent is not None else "",
            task_id=scope.task,
            status=fact.status,
            summary=fact.summary,
            result=fact.result,
            transcript=fact.transcript,
            usage=fact.usage,
            at=record.header.at,
            # Without an item, the result of the parent's call carries the notification.
            consumed=not fact.item,
            plain_text=fact.plain_text,
        )
        if fact.item:
            self.waiting[fact.item] = row
        return upsert(row)

    @on
    def consume(self, record: Record, fact: InboxConsumed, _members: Mapping[str, Member]) -> list[Op]:
        rows = [row for item in fact.items if (row := self.waiting.pop(item, None)) is not None]
        return upsert(*(msgspec.structs.replace(row, sequence=record.sequence, consumed=True) for row in rows))
