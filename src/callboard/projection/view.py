"""All panels of a session, from its facts and live frames or from a stored state."""

from __future__ import annotations

import zlib
from collections.abc import Iterable

import msgspec

from callboard.contracts.erased import with_erased_form
from callboard.contracts.errors import Refusal
from callboard.contracts.live import Frame, Partial
from callboard.contracts.record import Record
from callboard.contracts.rows.base import Op
from callboard.contracts.rows.task import TaskRow

from .actions import ActionsPanel
from .artifacts import ArtifactsPanel
from .context import ContextPanel
from .live import Live
from .parts import PartsPanel
from .processes import ProcessesPanel
from .queue import QueuePanel
from .reducer import Step, map_steps
from .session import SessionPanel
from .sessions import CardPanel
from .status import StatusPanel
from .team.panels import TeamPanels
from .turns import TurnsPanel

#: Maximum number of records that wait for a missing one.
MAX_EARLY_RECORDS = 1024


class Panels(msgspec.Struct, gc=False):
    """The state of a view: its sequence, and each panel's open entities."""

    sequence: int = 0
    session: SessionPanel = msgspec.field(default_factory=SessionPanel)
    status: StatusPanel = msgspec.field(default_factory=StatusPanel)
    turns: TurnsPanel = msgspec.field(default_factory=TurnsPanel)
    parts: PartsPanel = msgspec.field(default_factory=PartsPanel)
    queue: QueuePanel = msgspec.field(default_factory=QueuePanel)
    actions: ActionsPanel = msgspec.field(default_factory=ActionsPanel)
    artifacts: ArtifactsPanel = msgspec.field(default_factory=ArtifactsPanel)
    context: ContextPanel = msgspec.field(default_factory=ContextPanel)
    card: CardPanel = msgspec.field(default_factory=CardPanel)
    processes: ProcessesPanel = msgspec.field(default_factory=ProcessesPanel)
    team: TeamPanels = msgspec.field(default_factory=TeamPanels)

    def apply(self, record: Record) -> list[Op]:
        """Return the row operations of the next fact."""
        self.sequence = record.sequence
        ops: list[Op] = []
        for step in _STEPS[type(record.fact)]:
            ops += step(self, record)
        return ops

    def apply_card(self, record: Record) -> list[Op]:
        """Return the row operations of the card and the header, which depend on other panels after the fact."""
        card = self.card.apply(record, self.actions, self.queue, self.team.roster.persons)
        return [*self.session.apply(record, self.card.row), *card]


#: The panels in the order of their row operations.
_PANELS: tuple[Step[Panels], ...] = (
    (StatusPanel.FACTS, lambda panels, record: panels.status.apply(record)),
    (TurnsPanel.FACTS, lambda panels, record: panels.turns.apply(record)),
    (PartsPanel.FACTS, lambda panels, record: panels.parts.apply(record)),
    (QueuePanel.FACTS, lambda panels, record: panels.queue.apply(record)),
    (ActionsPanel.FACTS, lambda panels, record: panels.actions.apply(record)),
    (ArtifactsPanel.FACTS, lambda panels, record: panels.artifacts.apply(record)),
    (ContextPanel.FACTS, lambda panels, record: panels.context.apply(record)),
    (ProcessesPanel.FACTS, lambda panels, record: panels.processes.apply(record)),
    (TeamPanels.FACTS, lambda panels, record: panels.team.apply(record)),
    (CardPanel.FACTS | SessionPanel.FACTS, Panels.apply_card),
)
_STEPS = map_steps(*_PANELS)
_decoder = msgspec.msgpack.Decoder(Panels)
_encoder = msgspec.msgpack.Encoder()
#: Maximum size of panels at rest, in bytes. Decoding more would delay the next fact.
MAX_AT_REST_BYTES = 16 * 1024


class SessionView:
    """The panels of one session, and its card. `sequence` counts the applied facts."""

    def __init__(self, panels: Panels | None = None) -> None:
        self._present = panels
        self._rested = b""
        self._live = Live()
        self._early: dict[int, Record] = {}

    @classmethod
    def from_state(cls, state: bytes) -> SessionView:
        """Continue from a stored state.

        Raises:
            msgspec.MsgspecError: The bytes are not a state of this version.
        """
        return cls(_decoder.decode(state))

    @property
    def sequence(self) -> int:
        return self._panels.sequence

    @property
    def _panels(self) -> Panels:
        if self._present is None:
            # A new view makes its panels at the first use, which can be long after its session was opened.
            self._present = _decoder.decode(zlib.decompress(self._rested)) if self._rested else Panels()
            self._rested = b""
        return self._present

    def compress(self) -> None:
        """Compress the panels until the next use. Empty panels need fifty times the memory."""
        if self._present is None or self._early:
            return
        state = self.encode_state()
        if len(state) <= MAX_AT_REST_BYTES:
            self._present, self._rested = None, zlib.compress(state, 1)

    def list_open_tasks(self) -> list[TaskRow]:
        """Return the rows of all tasks that can still change."""
        return list(self._panels.team.tasks.open.values())

    def encode_state(self) -> bytes:
        """Return the state from which a view can continue. Its size depends on open entities, not on history."""
        return zlib.decompress(self._rested) if self._rested else _encoder.encode(self._panels)

    def apply(self, record: Record) -> list[Op]:
        """Return the row operations of a fact; none for a repeated fact.

        A fact that arrives before its predecessors waits for them.

        Raises:
            Refusal: `gap`, if too many facts wait.
        """
        panels = self._panels
        expected = panels.sequence + 1
        if record.sequence < expected:
            return []
        if record.sequence > expected:
            if len(self._early) >= MAX_EARLY_RECORDS:
                raise Refusal("gap", f"The fact {expected} of {record.stream} is missing.", hint="Read from there.")
            self._early[record.sequence] = record
            return []
        ops = self._fold(panels, record)
        while self._early and (following := self._early.pop(panels.sequence + 1, None)):
            ops += self._fold(panels, following)
        return ops

    def apply_frame(self, frame: Frame) -> list[Op]:
        """Return the row operations of a live frame. They are for viewers and are not stored."""
        return self._live.apply_frame(frame, self._panels.parts, self._panels.status)

    def resume(self, partials: Iterable[Partial]) -> list[Op]:
        """Return the row operations that show the partials, so that later frames can follow."""
        return [
            op
            for partial in partials
            for op in self.apply_frame(
                Frame(kind=partial.kind, scope=partial.scope, offset=0, text=partial.text, tool=partial.tool)
            )
        ]

    def _fold(self, panels: Panels, record: Record) -> list[Op]:
        ops = panels.apply(with_erased_form(record))
        ops += self._live.settle(ops, panels.parts)
        return ops
