"""The header of a session. `workspace.listed` adds its title and archive state."""

from __future__ import annotations

import msgspec

from callboard.contracts.facts.base import UnknownFact
from callboard.contracts.facts.session import SessionCreated
from callboard.contracts.facts.turn import TurnCompleted, TurnFailed, TurnInterrupted, TurnSubmitted
from callboard.contracts.record import Record
from callboard.contracts.rows.base import Op
from callboard.contracts.rows.session import SessionCard, SessionRow

from .reducer import upsert


class SessionPanel(msgspec.Struct):
    """One row. It changes when a turn is submitted or ends, and with the session's state."""

    row: SessionRow | None = None

    def apply(self, record: Record, card: SessionCard | None) -> list[Op]:
        """Return the row operations of the fact. `card` is the session's card after the fact; it has the same state."""
        ops = self._apply(record)
        if self.row is None or card is None or (self.row.state, self.row.attention) == (card.state, card.attention):
            return ops
        self.row = msgspec.structs.replace(
            self.row, state=card.state, attention=card.attention, sequence=record.sequence, epoch=record.header.epoch
        )
        return upsert(self.row)

    def _apply(self, record: Record) -> list[Op]:
        at = record.header.at
        match record.fact:
            case SessionCreated() as fact:
                self.row = SessionRow(
                    key=record.stream,
                    order=record.sequence,
                    sequence=record.sequence,
                    session_id=record.stream,
                    workspace_id=fact.workspace_id,
                    folder=fact.folder,
                    title=fact.title,
                    created_at=at,
                    updated_at=at,
                    source=fact.source,
                )
            case TurnSubmitted() | TurnCompleted() | TurnFailed() | TurnInterrupted() if self.row is not None:
                self.row = msgspec.structs.replace(
                    self.row, sequence=record.sequence, updated_at=at, epoch=record.header.epoch
                )
            case UnknownFact() if self.row is not None and not self.row.has_unknown_facts:
                self.row = msgspec.structs.replace(self.row, sequence=record.sequence, has_unknown_facts=True)
            case _:
                return []
        return upsert(self.row)
