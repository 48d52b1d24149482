"""What agents say to each other in channels."""

from __future__ import annotations

import msgspec

from callboard.contracts.facts import ChannelMessage, Fact
from callboard.contracts.record import Record
from callboard.contracts.rows import MessageRow, Op

from ..ops import remove, upsert

#: The facts that bring messages.
TAKES: frozenset[type[Fact]] = frozenset({ChannelMessage})
#: How many messages the panel holds.
MESSAGES = 200


class MessagesPanel(msgspec.Struct):
    """A message is whole when it is said. `keys` are those of the messages in the panel, the oldest first."""

    keys: list[str] = msgspec.field(default_factory=list[str])

    def apply(self, record: Record) -> list[Op]:
        """The operations that the fact leads to. The oldest message goes where a new one has no room."""
        match record.fact:
            case ChannelMessage() as fact:
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
                oldest = self.keys.pop(0) if len(self.keys) > MESSAGES else ""
                return [*upsert(row), *(remove(MessageRow, oldest) if oldest else ())]
            case _:
                return []
