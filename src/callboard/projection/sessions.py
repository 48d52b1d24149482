"""A session's card in the list of sessions, from the session's own facts. `workspace` lays over it what the workspace says."""

from __future__ import annotations

import msgspec

from callboard.contracts.facts import AgentConnected, MessageText, OutputFinal, SessionCreated, TurnSubmitted
from callboard.contracts.record import Record
from callboard.contracts.rows import Op, SessionCard

from .reducer import upsert
from .session_state import OpenWork

#: How much of the newest answer a card shows, in characters.
LAST_TEXT = 200


class CardPanel(msgspec.Struct):
    """The card, and the open work that its state is derived from. `said` is the head of each thread's newest text."""

    row: SessionCard | None = None
    work: OpenWork = msgspec.field(default_factory=OpenWork)
    said: dict[str, str] = msgspec.field(default_factory=dict[str, str])

    def apply(self, record: Record) -> list[Op]:
        """The operations that the fact leads to: none where the card would read the same."""
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
        """Takes the fact into the counts; False where it is none that the card counts."""
        match record.fact:
            case MessageText() as fact:
                self.said[record.scope.thread] = fact.content.text[:LAST_TEXT]
                return False
            case TurnSubmitted() | OutputFinal():
                return True
            case AgentConnected():
                self.work.take(record)
                return True
            case _:
                return self.work.take(record)

    def _row(self, record: Record, row: SessionCard) -> SessionCard:
        submitted = isinstance(record.fact, TurnSubmitted)
        final = isinstance(record.fact, OutputFinal) and bool(record.fact.parts)
        driven = (record.fact.provider_session_id,) if isinstance(record.fact, AgentConnected) else ()
        return msgspec.structs.replace(
            row,
            order=record.header.at if submitted else row.order,
            state=self.work.state(),
            attention=self.work.attention(),
            pending_actions=len(self.work.pending),
            queued=len(self.work.queued),
            turns=row.turns + submitted,
            last_text=self.said.get(record.scope.thread, "") if final else row.last_text,
            driven=(*row.driven, *(one for one in driven if one and one not in row.driven)),
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
