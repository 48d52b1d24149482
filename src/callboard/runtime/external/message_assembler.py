"""The messages of an external agent in one prompt, part by part."""

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
    """A part that is being written. `message` is the agent's name of its message."""

    kind: Kind
    message: str
    scope: Scope
    gather: PartialBuffer

    def piece(self) -> Piece:
        return Piece(kind=self.kind, step=self.scope.step, text=self.gather.read_text(self.kind, self.scope.step))


class MessageAssembler:
    """Assigns steps in the order in which parts and calls begin.

    A part is reported before the next one begins. So unreported text is always after the run's next
    step.
    """

    def __init__(self, host: SessionHost, scope: Scope) -> None:
        self._host = host
        self._scope = scope
        self._step = scope.step
        self._part: _Part | None = None

    def advance_step(self) -> int:
        """Return the next step."""
        self._step += 1
        return self._step

    def is_current_part(self, kind: Kind, message: str) -> bool:
        """Return True if such a piece continues the current part."""
        return self._part is not None and (self._part.kind, self._part.message) == (kind, message)

    def add(self, kind: Kind, text: str, message: str) -> None:
        """Add a piece. A piece that continues nothing begins a part."""
        if not self.is_current_part(kind, message):
            scope = msgspec.structs.replace(self._scope, step=self.advance_step())
            gather = PartialBuffer(self._host.dependencies, self._host.session, self._host.epoch)
            self._part = _Part(kind, message, scope, gather)
        if self._part is not None:
            self._part.gather.add(kind, self._part.scope, text)

    async def end_part(self) -> None:
        """Report the current part as finished."""
        part = self._part
        if part is None:
            return
        await part.gather.settle()
        where = self._scope
        await self._host.report(PartEnded(thread=where.thread, run=where.run, prompt=where.step, piece=part.piece()))
        self._part = None

    def pieces(self) -> tuple[Piece, ...]:
        """Return the part that is not recorded yet."""
        part, run = self._part, self._host.state.threads[self._scope.thread].run
        if part is None or run is None or run.run != self._scope.run or part.scope.step < run.next_step:
            return ()
        return (part.piece(),)

    async def settle(self) -> None:
        """Stop showing and storing pieces."""
        if self._part is not None:
            await self._part.gather.settle()
