"""Queued turns, in the order in which they will start."""

from __future__ import annotations

import msgspec

from callboard.contracts.facts.queue import QueueAdded, QueueEdited, QueuePromoted, QueueRemoved
from callboard.contracts.facts.turn import TurnStarted, TurnSubmitted
from callboard.contracts.record import Record
from callboard.contracts.rows.base import Op
from callboard.contracts.rows.queue import QueueRow

from .reducer import Panel, on, remove, upsert


class QueuePanel(Panel):
    """Queues. `waiting` maps each thread to its queue, `submitted` has the turns that are neither
    queued nor started.

    The row operations include the new positions of later turns.
    """

    waiting: dict[str, list[QueueRow]] = msgspec.field(default={})
    submitted: dict[str, QueueRow] = msgspec.field(default={})

    @on
    def submit(self, record: Record, fact: TurnSubmitted) -> list[Op]:
        turn = record.scope.turn
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

    @on
    def add(self, record: Record, fact: QueueAdded) -> list[Op]:
        row = self.submitted.pop(record.scope.turn, None)
        return [] if row is None else self._put(record, row, fact.position - 1)

    @on
    def promote(self, record: Record, fact: QueuePromoted) -> list[Op]:
        row = self._pop(record)
        return [] if row is None else self._put(record, row, 0)

    @on
    def edit(self, record: Record, fact: QueueEdited) -> list[Op]:
        queue = self.waiting.get(record.scope.thread, [])
        for index, row in enumerate(queue):
            if row.turn_id == record.scope.turn:
                queue[index] = msgspec.structs.replace(row, sequence=record.sequence, input=fact.input)
                return upsert(queue[index])
        return []

    @on
    def leave(self, record: Record, fact: QueueRemoved | TurnStarted) -> list[Op]:
        turn = record.scope.turn
        self.submitted.pop(turn, None)
        return [] if self._pop(record) is None else [*remove(QueueRow, turn), *self._renumber(record)]

    def count(self) -> int:
        """Return the number of queued turns."""
        return sum(len(queue) for queue in self.waiting.values())

    def _pop(self, record: Record) -> QueueRow | None:
        queue = self.waiting.get(record.scope.thread, [])
        for index, row in enumerate(queue):
            if row.turn_id == record.scope.turn:
                return queue.pop(index)
        return None

    def _put(self, record: Record, row: QueueRow, index: int) -> list[Op]:
        self.waiting.setdefault(record.scope.thread, []).insert(max(index, 0), row)
        return self._renumber(record)

    def _renumber(self, record: Record) -> list[Op]:
        queue = self.waiting[record.scope.thread]
        moved: list[Op] = []
        for position, row in enumerate(queue, start=1):
            if row.order != position:
                queue[position - 1] = msgspec.structs.replace(row, sequence=record.sequence, order=position)
                moved += upsert(queue[position - 1])
        if not queue:
            del self.waiting[record.scope.thread]
        return moved
