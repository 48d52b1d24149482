"""A session's card in the list of sessions, from the session's own facts. `workspace` lays over it what the workspace says."""

from __future__ import annotations

from typing import Literal

import msgspec

from callboard.contracts.facts import (
    ActionExpired,
    ActionRequired,
    ActionResolved,
    ActionWithdrawn,
    MessageText,
    OutputFinal,
    QueueAdded,
    QueueRemoved,
    SessionCreated,
    ThreadPaused,
    ThreadResumed,
    TurnCompleted,
    TurnFailed,
    TurnInterrupted,
    TurnStarted,
    TurnSubmitted,
)
from callboard.contracts.facts.thread import PauseCause
from callboard.contracts.record import Record
from callboard.contracts.rows import Op, SessionCard
from callboard.contracts.rows.session import Attention, SessionState

from .ops import upsert
from .team import persons
from .team.persons import Persons

#: How much of the newest answer a card shows, in characters.
LAST_TEXT = 200


class CardPanel(msgspec.Struct):
    """What is open in the session, as far as the card counts it. `running` has the run of each turn under way; `said` is the
    head of each thread's newest text."""

    row: SessionCard | None = None
    running: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    pending: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    queued: set[str] = msgspec.field(default_factory=set[str])
    paused: dict[str, PauseCause] = msgspec.field(default_factory=dict[str, PauseCause])
    said: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    persons: Persons = msgspec.field(default_factory=Persons)
    outcome: Literal["idle", "interrupted", "failed"] = "idle"

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
        scope = record.scope
        if type(record.fact) in persons.TAKES:
            self.persons.take(record)
            return bool(self.persons.agents)
        match record.fact:
            case TurnSubmitted():
                pass
            case TurnStarted():
                self.queued.discard(scope.turn)
                self.running[scope.turn] = scope.run
                self.outcome = "idle"
            case QueueAdded():
                self.queued.add(scope.turn)
            case QueueRemoved():
                self.queued.discard(scope.turn)
            case ActionRequired():
                self.pending[scope.action] = scope.turn
            case ActionResolved() | ActionExpired() | ActionWithdrawn():
                self.pending.pop(scope.action, None)
            case MessageText() as fact:
                self.said[scope.thread] = fact.content.text[:LAST_TEXT]
                return False
            case OutputFinal():
                pass
            case TurnCompleted() | TurnFailed() | TurnInterrupted():
                self._end(record)
            case ThreadPaused() as fact:
                self.paused[scope.thread] = fact.cause
            case ThreadResumed():
                self.paused.pop(scope.thread, None)
            case _:
                return False
        return True

    def _end(self, record: Record) -> None:
        self.running.pop(record.scope.turn, None)
        self.pending = {action: turn for action, turn in self.pending.items() if turn != record.scope.turn}
        match record.fact:
            case TurnFailed():
                self.outcome = "failed"
            case TurnInterrupted():
                self.outcome = "interrupted"
            case _:
                self.outcome = "idle"

    def _row(self, record: Record, row: SessionCard) -> SessionCard:
        submitted = isinstance(record.fact, TurnSubmitted)
        final = isinstance(record.fact, OutputFinal) and bool(record.fact.parts)
        return msgspec.structs.replace(
            row,
            order=record.header.at if submitted else row.order,
            state=self._state(),
            attention=self._attention(),
            pending_actions=len(self.pending),
            queued=len(self.queued),
            turns=row.turns + submitted,
            last_text=self.said.get(record.scope.thread, "") if final else row.last_text,
        )

    def _state(self) -> SessionState:
        if self.pending:
            return "waiting"
        if self.running:
            return "running"
        return "queued" if self.queued else self.outcome

    def _attention(self) -> Attention:
        """A person is needed for an answer, for a queue that does not go on by itself, and where an agent is one."""
        if self.pending or any(cause != "failed" for cause in self.paused.values()) or self.persons.any_asked():
            return "needs_input"
        return "failed" if self.outcome == "failed" and not self.running else "none"


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
