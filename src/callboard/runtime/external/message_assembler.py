"""What an agent of its own program says in one prompt, part by part, and the steps that parts and calls are given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import msgspec

from callboard.contracts.scope import Scope
from callboard.control.outcomes import PartEnded, Piece

from ..sessions.host import SessionHost
from ..sessions.partial_buffer import PartialBuffer

Kind = Literal["text", "reasoning"]


@dataclass
class _Part:
    """A part in the making. `message` is the agent's own name of the message that it is of."""

    kind: Kind
    message: str
    scope: Scope
    gather: PartialBuffer

    def piece(self) -> Piece:
        return Piece(kind=self.kind, step=self.scope.step, text=self.gather.text(self.kind, self.scope.step))


class MessageAssembler:
    """Gives steps in the order in which parts and calls begin. What begins next is told after what began before, so what no
    fact tells yet lies behind the run's next step."""

    def __init__(self, host: SessionHost, scope: Scope) -> None:
        self._host = host
        self._scope = scope
        self._step = scope.step
        self._part: _Part | None = None

    def next_step(self) -> int:
        """The next step."""
        self._step += 1
        return self._step

    def continues_part(self, kind: Kind, message: str) -> bool:
        """True where such a piece belongs to the part in the making."""
        return self._part is not None and (self._part.kind, self._part.message) == (kind, message)

    def add(self, kind: Kind, text: str, message: str) -> None:
        """Takes a piece; one that goes on with nothing begins a part."""
        if not self.continues_part(kind, message):
            scope = msgspec.structs.replace(self._scope, step=self.next_step())
            gather = PartialBuffer(self._host.dependencies, self._host.session, self._host.epoch)
            self._part = _Part(kind, message, scope, gather)
        if self._part is not None:
            self._part.gather.add(kind, self._part.scope, text)

    async def end_part(self) -> None:
        """The part in the making is finished."""
        part = self._part
        if part is None:
            return
        await part.gather.settle()
        where = self._scope
        await self._host.report(PartEnded(thread=where.thread, run=where.run, prompt=where.step, piece=part.piece()))
        self._part = None

    def pieces(self) -> tuple[Piece, ...]:
        """The part that no fact tells yet."""
        part, run = self._part, self._host.state.threads[self._scope.thread].run
        if part is None or run is None or run.run != self._scope.run or part.scope.step < run.next_step:
            return ()
        return (part.piece(),)

    async def settle(self) -> None:
        """Nothing more is shown or kept."""
        if self._part is not None:
            await self._part.gather.settle()
