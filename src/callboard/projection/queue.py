"""Queued turns, in the order in which they will start."""

from __future__ import annotations

import msgspec

from callboard.contracts.facts.queue import QueueAdded, QueueEdited, QueuePromoted, QueueRemoved
from callboard.contracts.facts.turn import TurnStarted, TurnSubmitted
from callboard.contracts.record import Record
from callboard.contracts.rows.base import Op
from callboard.contracts.rows.conversation import QueueRow

from .reducer import remove, upsert


class QueuePanel(msgspec.Struct):
    """In `waiting` the queue of each thread, in `submitted` the turns that are neither queued nor started."""

    waiting: dict[str, list[QueueRow]] = msgspec.field(default_factory=dict[str, list[QueueRow]])
    submitted: dict[str, QueueRow] = msgspec.field(default_factory=dict[str, QueueRow])

    def apply(self, record: Record) -> list[Op]:
        """Return the row operations of the fact, including the new positions of later turns."""
        turn = record.scope.turn
        match record.fact:
            case TurnSubmitted() as fact:
                self.submitted[turn] = QueueRow(
                    key=turn,
                    order=0,
                    sequence=record.sequence,
                    turn_id=turn,
                    thread_id=record.scope.thread,
                    input=fact.input,
                    mode=fact.mode,
                    submitted_at=record.header.at,
                )
                return []
            case QueueAdded() as fact:
                row = self.submitted.pop(turn, None)
                return [] if row is None else self._put(record, row, fact.position - 1)
            case QueuePromoted():
                row = self._pop(record)
                return [] if row is None else self._put(record, row, 0)
            case QueueEdited() as fact:
                return self._edit(record, fact)
            case QueueRemoved() | TurnStarted():
                self.submitted.pop(turn, None)
                return [] if self._pop(record) is None else [*remove(QueueRow, turn), *self._renumber(record)]
            case _:
                return []

    def _pop(self, record: Record) -> QueueRow | None:
        queue = self.waiting.get(record.scope.thread, [])
        for place, row in enumerate(queue):
            if row.turn_id == record.scope.turn:
                return queue.pop(place)
        return None

    def _put(self, record: Record, row: QueueRow, place: int) -> list[Op]:
        self.waiting.setdefault(record.scope.thread, []).insert(max(place, 0), row)
        return self._renumber(record)

    def _edit(self, record: Record, fact: QueueEdited) -> list[Op]:
        queue = self.waiting.get(record.scope.thread, [])
        for place, row in enumerate(queue):
            if row.turn_id == record.scope.turn:
                queue[place] = msgspec.structs.replace(row, sequence=record.sequence, input=fact.input)
                return upsert(queue[place])
        return []

    def _renumber(self, record: Record) -> list[Op]:
        queue = self.waiting[record.scope.thread]
        moved: list[Op] = []
        for place, row in enumerate(queue, start=1):
            if row.order != place:
                queue[place - 1] = msgspec.structs.replace(row, sequence=record.sequence, order=place)
                moved += upsert(queue[place - 1])
        if not queue:
            del self.waiting[record.scope.thread]
        return moved
