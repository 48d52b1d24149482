"""Long histories built from one real turn: its facts, repeated with new ids and sequences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

import msgspec

from bench.rigs.board import Board
from callboard.contracts.facts.base import Fact
from callboard.contracts.facts.model import ModelRequested
from callboard.contracts.facts.session import SessionCreated
from callboard.contracts.ids import IdKind
from callboard.contracts.ports.store import Append
from callboard.contracts.record import NewFact, Origin, Record
from callboard.contracts.scope import PERSON, Scope
from callboard.runtime.clock import Clock, UuidIds

_FRESH: dict[str, IdKind] = {"turn": "turn", "run": "run", "tool_call": "call"}
_NEW_SESSION = ("session.created", "thread.opened")


class History:
    """The batches of one turn, each a transaction of the runtime in `session`."""

    def __init__(self, records: Sequence[Record]) -> None:
        self.session = records[0].stream
        self._first = [record for record in records if record.header.type in _NEW_SESSION]
        turn = [record for record in records if record.header.type not in _NEW_SESSION]
        self._turn = [tuple(batch) for _, batch in groupby(turn, key=lambda record: record.header.at)]
        #: Number of facts of a turn.
        self.facts = len(turn)
        self._ids = UuidIds()
        self._clock = Clock()

    def first(self, session: str, epoch: int, workspace: str = "") -> Append:
        """Return the batch before the first turn of a session, optionally in a workspace."""
        facts = tuple(NewFact(_moved(record.fact, workspace), record.header.scope) for record in self._first)
        return self._append(session, 0, epoch, facts)

    def turns(self, session: str, epoch: int, after: int, count: int) -> Iterator[Append]:
        """Yield the batches of `count` turns after a sequence."""
        for _ in range(count):
            fresh: dict[str, str] = {}
            shift = after - self._turn[0][0].sequence + 1
            for batch in self._turn:
                facts = tuple(self._again(record, fresh, shift) for record in batch)
                yield self._append(session, after, epoch, facts)
                after += len(facts)

    def _again(self, record: Record, fresh: dict[str, str], shift: int) -> NewFact:
        changed: dict[str, str] = {}
        for key, kind in _FRESH.items():
            old = getattr(record.header.scope, key)
            if old:
                if old not in fresh:
                    fresh[old] = self._ids.new(kind)
                changed[key] = fresh[old]
        scope: Scope = msgspec.structs.replace(record.header.scope, **changed)
        fact = record.fact
        if isinstance(fact, ModelRequested):
            fact = msgspec.structs.replace(fact, context_through=fact.context_through + shift)
        return NewFact(fact, scope)

    def _append(self, session: str, after: int, epoch: int, facts: tuple[NewFact, ...]) -> Append:
        origin = Origin(at=self._clock.now(), command_id=self._ids.new("command"), actor=PERSON)
        closed = tuple(getattr(new.scope, new.fact.closes) for new in facts if new.fact.closes)
        return Append(stream=session, expected=after, epoch=epoch, facts=facts, origin=origin, closed=closed)


def _moved(fact: Fact, workspace: str) -> Fact:
    if isinstance(fact, SessionCreated) and workspace:
        return msgspec.structs.replace(fact, workspace_id=workspace)
    return fact


async def history(folder: Path) -> History:
    """Run one turn in a folder and return its history."""
    board = Board(folder)
    await board.open()
    try:
        accepted = await board.submit(None)
        await board.until(accepted)
        return History(await board.parts.store.facts.read(accepted.session_id))
    finally:
        await board.close()
