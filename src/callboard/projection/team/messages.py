"""What agents say to each other in channels."""

from __future__ import annotations

import msgspec

from callboard.contracts.facts import ChannelMessage, Fact
from callboard.contracts.record import Record
from callboard.contracts.rows import MessageRow, Op

from ..ops import upsert

#: The facts that bring messages.
TAKES: frozenset[type[Fact]] = frozenset({ChannelMessage})


class MessagesPanel(msgspec.Struct):
    """A message is whole when it is said, so nothing is kept."""

    def apply(self, record: Record) -> list[Op]:
        """The operations that the fact leads to."""
        match record.fact:
            case ChannelMessage() as fact:
                return upsert(
                    MessageRow(
                        key=fact.item,
                        order=record.sequence,
                        sequence=record.sequence,
                        channel_id=record.scope.channel,
                        source=fact.source,
                        participants=fact.participants,
                        text=fact.message,
                        at=record.header.at,
                    )
                )
            case _:
                return []
