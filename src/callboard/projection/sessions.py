"""A session's card in the list of sessions. `workspace` adds title, pin and archive state."""

from __future__ import annotations

from typing import Any

import msgspec

from callboard.contracts.facts.agent import AgentConnected
from callboard.contracts.facts.message import MessageText, OutputFinal
from callboard.contracts.facts.session import SessionCreated
from callboard.contracts.facts.turn import TurnSubmitted
from callboard.contracts.record import Record
from callboard.contracts.rows.base import Op
from callboard.contracts.rows.session import SessionCard

from .actions import ActionsPanel
from .queue import QueuePanel
from .reducer import Reducer, on, upsert
from .session_state import OpenWork
from .team.human_agents import HumanAgents

#: Maximum length of the newest answer on a card, in characters.
MAX_TEXT_CHARS = 200


class CardPanel(Reducer):
    """The card, and the open work that decides its state. `texts` has the start of each thread's newest text.

    The handlers return the fields that the fact changes.
    """

    USES = (OpenWork.FACTS, ActionsPanel.FACTS, QueuePanel.FACTS, HumanAgents.FACTS)
    row: SessionCard | None = None
    work: OpenWork = msgspec.field(default_factory=OpenWork)
    texts: dict[str, str] = msgspec.field(default={})

    def apply(self, record: Record, actions: ActionsPanel, queue: QueuePanel, persons: HumanAgents) -> list[Op]:
        """Return the row operations of the fact; none if the card stays the same. The panels are those after the fact."""
        before = self.row
        self.work.handle(record)
        changes: dict[str, Any] | None = self.handle(record)
        if self.row is None or (changes is None and type(record.fact) not in _WORK_FACTS and not persons.agents):
            return []
        waits = bool(actions.pending) or persons.is_any_input_needed()
        state = self.work.derive_state(waits=waits, queued=bool(queue.waiting))
        row = msgspec.structs.replace(
            self.row,
            state=state,
            attention=self.work.derive_attention(state),
            pending_actions=len(actions.pending),
            queued=queue.count(),
            **(changes or {}),
        )
        if row == before:
            return []
        self.row = msgspec.structs.replace(
            row, sequence=record.sequence, updated_at=record.header.at, epoch=record.header.epoch
        )
        return upsert(self.row)

    @on
    def create(self, record: Record, fact: SessionCreated) -> dict[str, Any]:
        self.row = SessionCard(
            key=record.stream,
            order=record.header.at,
            sequence=record.sequence,
            session_id=record.stream,
            workspace_id=fact.workspace_id,
            title=fact.title,
            state="idle",
            updated_at=record.header.at,
        )
        return {}

    @on
    def submit_turn(self, record: Record, fact: TurnSubmitted) -> dict[str, Any]:
        return {"order": record.header.at, "turns": self.row.turns + 1 if self.row is not None else 0}

    @on
    def add_text(self, record: Record, fact: MessageText) -> None:
        self.texts[record.scope.thread] = fact.content.text[:MAX_TEXT_CHARS]

    @on
    def finish(self, record: Record, fact: OutputFinal) -> dict[str, Any]:
        return {"last_text": self.texts.get(record.scope.thread, "")} if fact.parts else {}

    @on
    def connect_agent(self, record: Record, fact: AgentConnected) -> dict[str, Any]:
        session, driven = fact.provider_session_id, self.row.driven if self.row is not None else ()
        return {"driven": (*driven, session)} if session and session not in driven else {}


#: Facts that can change the state of a session without persons among its agents.
_WORK_FACTS = OpenWork.FACTS | ActionsPanel.FACTS | QueuePanel.FACTS
