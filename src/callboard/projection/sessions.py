"""A session's card in the list of sessions. `workspace` adds title, pin and archive state."""

from __future__ import annotations

import msgspec

from callboard.contracts.facts.agent import AgentConnected
from callboard.contracts.facts.message import MessageText, OutputFinal
from callboard.contracts.facts.session import SessionCreated
from callboard.contracts.facts.turn import TurnSubmitted
from callboard.contracts.record import Record
from callboard.contracts.rows.base import Op
from callboard.contracts.rows.session import SessionCard

from .reducer import upsert
from .session_state import OpenWork

#: Maximum length of the newest answer on a card, in characters.
LAST_TEXT = 200


class CardPanel(msgspec.Struct):
    """The card, and the open work that decides its state. `texts` has the start of each thread's newest text."""

    row: SessionCard | None = None
    work: OpenWork = msgspec.field(default_factory=OpenWork)
    texts: dict[str, str] = msgspec.field(default_factory=dict[str, str])

    def apply(self, record: Record) -> list[Op]:
        """Return the row operations of the fact; none if the card stays the same."""
        if isinstance(record.fact, SessionCreated):
            self.row = _created(record, record.fact)
            return upsert(self.row)
        if self.row is None or not self._count(record):
            return []
        row = self._row(record, self.row)
        if row == self.row:
            return []
        self.row = msgspec.structs.replace(
            row, sequence=record.sequence, updated_at=record.header.at, epoch=record.header.epoch
        )
        return upsert(self.row)

    def _count(self, record: Record) -> bool:
        """Count the fact; return whether the card depends on it."""
        match record.fact:
            case MessageText() as fact:
                self.texts[record.scope.thread] = fact.content.text[:LAST_TEXT]
                return False
            case TurnSubmitted() | OutputFinal():
                return True
            case AgentConnected():
                self.work.apply(record)
                return True
            case _:
                return self.work.apply(record)

    def _row(self, record: Record, row: SessionCard) -> SessionCard:
        submitted = isinstance(record.fact, TurnSubmitted)
        final = isinstance(record.fact, OutputFinal) and bool(record.fact.parts)
        driven = record.fact.provider_session_id if isinstance(record.fact, AgentConnected) else ""
        return msgspec.structs.replace(
            row,
            order=record.header.at if submitted else row.order,
            state=self.work.state(),
            attention=self.work.attention(),
            pending_actions=len(self.work.pending),
            queued=len(self.work.queued),
            turns=row.turns + submitted,
            last_text=self.texts.get(record.scope.thread, "") if final else row.last_text,
            driven=(*row.driven, driven) if driven and driven not in row.driven else row.driven,
        )


def _created(record: Record, fact: SessionCreated) -> SessionCard:
    return SessionCard(
        key=record.stream,
        order=record.header.at,
        sequence=record.sequence,
        session_id=record.stream,
        workspace_id=fact.workspace_id,
        title=fact.title,
        state="idle",
        updated_at=record.header.at,
        epoch=record.header.epoch,
    )
