"""Messages between agents, in channels."""

from __future__ import annotations

import msgspec

from callboard.contracts.facts.exchange.channel import ChannelMessage
from callboard.contracts.record import Record
from callboard.contracts.rows.base import Op
from callboard.contracts.rows.message import MessageRow

from ..reducer import Panel, on, remove, upsert

#: Maximum number of messages in the panel.
MAX_MESSAGES = 200


class MessagesPanel(Panel):
    """The newest messages: their `keys`, oldest first."""

    keys: list[str] = msgspec.field(default=[])

    @on
    def add(self, record: Record, fact: ChannelMessage) -> list[Op]:
        """Add the message, and remove the oldest one if the panel is full."""
        row = MessageRow(
            key=fact.item or record.event_id,
            order=record.sequence,
            sequence=record.sequence,
            channel_id=record.scope.channel,
            source=fact.source,
            participants=fact.participants,
            text=fact.message,
            at=record.header.at,
        )
        self.keys.append(row.key)
        oldest = self.keys.pop(0) if len(self.keys) > MAX_MESSAGES else ""
        return [*upsert(row), *(remove(MessageRow, oldest) if oldest else ())]
