"""The state that a session decides on, with its snapshots."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence

import msgspec

from callboard.contracts.errors import Refusal
from callboard.contracts.ports.store import Store
from callboard.contracts.record import Record
from callboard.control.batch import Decision
from callboard.control.evolve import evolve
from callboard.control.state.session import Session

from .fingerprint import compute_state_fingerprint
from .slices import yield_in_slices

log = logging.getLogger(__name__)

#: Number of facts between two snapshots.
SNAPSHOT_EVERY = 1000


class SessionState:
    """The state of one session. It is never ahead of the log."""

    def __init__(self, session: str, store: Store, workspace: str = "") -> None:
        self.state = Session(session=session, workspace=workspace)
        self._session = session
        self._store = store
        self._snapshot_at = 0
        #: The first fact that this version cannot read. The state is then unknown, and the session
        #: can decide nothing.
        self.unreadable: Record | None = None

    async def open(self) -> None:
        """Load the snapshot if it fits the log, and fold the facts after it."""
        store = self._store
        snapshot = await store.rows.read_snapshot(self._session, compute_state_fingerprint())
        if snapshot is not None:
            await self._load_snapshot(*snapshot)
        while records := await store.facts.read(self._session, after=self.state.sequence, limit=1000):
            async for record in yield_in_slices(records):
                self.fold((record,))

    async def _load_snapshot(self, sequence: int, link: bytes, data: bytes) -> None:
        records = await self._store.facts.read(self._session, after=sequence - 1, limit=1)
        if not records or records[0].link != link:
            log.warning("the snapshot of %s does not fit its log: folding all facts", self._session)
            return
        try:
            self.state = msgspec.json.decode(data, type=Session)
        except msgspec.MsgspecError as error:
            log.warning("the snapshot of %s does not decode: folding all facts (%s)", self._session, error)
            return
        self._snapshot_at = sequence

    def fold(self, records: Iterable[Record]) -> None:
        """Apply the next facts of the log."""
        for record in records:
            self.state = evolve(self.state, record)
            if record.is_unreadable:
                self.unreadable = self.unreadable or record

    def apply_decision(self, decision: Decision, records: Sequence[Record]) -> None:
        """Apply the facts of a decision as they were stored. The decision has folded them, unless storing changed one."""
        if all(record.fact is new.fact for record, new in zip(records, decision.facts, strict=True)):
            self.state = decision.state
        else:
            self.fold(records)

    @property
    def needs_snapshot(self) -> bool:
        """Return True if many facts were folded since the last snapshot."""
        return self.state.sequence - self._snapshot_at >= SNAPSHOT_EVERY

    async def save(self) -> None:
        """Save a snapshot. If the store refuses it, the next opening folds more facts."""
        if self.state.sequence <= self._snapshot_at or self.unreadable is not None:
            return
        state, store = self.state, self._store
        try:
            last = await store.facts.read(self._session, after=state.sequence - 1, limit=1)
            if last:
                data = msgspec.json.encode(state)
                await store.rows.save_snapshot(
                    self._session, state.sequence, last[0].link, compute_state_fingerprint(), data
                )
                self._snapshot_at = state.sequence
        except Refusal as refusal:
            log.warning("the snapshot of %s was not saved: %s", self._session, refusal.problem.message)
