"""The header of a session. `workspace.apply_listing` adds its title and archive state."""

from __future__ import annotations

import msgspec

from callboard.contracts.facts.base import UnknownFact
from callboard.contracts.facts.session import SessionCreated
from callboard.contracts.facts.turn import TurnEndFact, TurnSubmitted
from callboard.contracts.record import Record
from callboard.contracts.rows.base import Op
from callboard.contracts.rows.session import SessionCard, SessionRow

from .reducer import Reducer, on, upsert


class SessionPanel(Reducer):
    """One row. It changes when a turn is submitted or ends, and with the session's state."""

    row: SessionRow | None = None

    def apply(self, record: Record, card: SessionCard | None) -> list[Op]:
        """Return the row operations of the fact. `card` is the session's card after the fact; it has the same state."""
        before = self.row
        self.handle(record)
        if self.row is None:
            return []
        if card is not None and (self.row.state, self.row.attention) != (card.state, card.attention):
            self._change(record, state=card.state, attention=card.attention, epoch=record.header.epoch)
        return [] if self.row is before else upsert(self.row)

    @on
    def create(self, record: Record, fact: SessionCreated) -> None:
        at = record.header.at
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

    @on
    def update(self, record: Record, fact: TurnSubmitted | TurnEndFact) -> None:
        self._change(record, updated_at=record.header.at, epoch=record.header.epoch)

    @on
    def mark_unknown_facts(self, record: Record, fact: UnknownFact) -> None:
        if self.row is not None and not self.row.has_unknown_facts:
            self._change(record, has_unknown_facts=True)

    def _change(self, record: Record, **changes: object) -> None:
        if self.row is not None:
            self.row = msgspec.structs.replace(self.row, sequence=record.sequence, **changes)
