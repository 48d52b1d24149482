"""The state that a session's decisions are made on: opened from its snapshot, folded on with every fact, kept again."""

from __future__ import annotations

import logging
from collections.abc import Iterable

import msgspec

from callboard.contracts.errors import Refusal
from callboard.contracts.ports.store import Store
from callboard.contracts.record import Record
from callboard.control.evolve import evolve
from callboard.control.state.session import Session

from .fingerprint import state_fingerprint
from .slices import in_slices

log = logging.getLogger(__name__)

#: A snapshot of the deciders' state is kept every so many facts.
SNAPSHOT_EVERY = 1000


class SessionState:
    """Holds one session's state. It is never ahead of what is durable."""

    def __init__(self, session: str, store: Store, workspace: str = "") -> None:
        self.state = Session(session=session, workspace=workspace)
        self._session = session
        self._store = store
        self._kept_at = 0
        #: The first fact that this code cannot read. Then the state is not known, and nothing may be decided on it.
        self.unreadable: Record | None = None

    async def open(self) -> None:
        """Take the snapshot, where one fits the log, and fold the facts after it."""
        store = self._store
        kept = await store.rows.snapshot(self._session, state_fingerprint())
        if kept is not None:
            await self._take(*kept)
        while records := await store.facts.read(self._session, after=self.state.sequence, limit=1000):
            async for record in in_slices(records):
                self.fold((record,))

    async def _take(self, sequence: int, link: bytes, data: bytes) -> None:
        found = await self._store.facts.read(self._session, after=sequence - 1, limit=1)
        if not found or found[0].link != link:
            log.warning("the snapshot of %s does not fit its log: the state is folded anew", self._session)
            return
        try:
            self.state = msgspec.json.decode(data, type=Session)
        except msgspec.MsgspecError as error:
            log.warning("the snapshot of %s does not decode: the state is folded anew (%s)", self._session, error)
            return
        self._kept_at = sequence

    def fold(self, records: Iterable[Record]) -> None:
        """Takes the next facts of the log."""
        for record in records:
            self.state = evolve(self.state, record)
            if record.unread:
                self.unreadable = self.unreadable or record

    @property
    def needs_snapshot(self) -> bool:
        """True where opening would by now fold many facts."""
        return self.state.sequence - self._kept_at >= SNAPSHOT_EVERY

    async def save(self) -> None:
        """Keeps the state, so that the next opening folds only what came after. Where that is refused it folds more: what
        was committed is committed all the same."""
        if self.state.sequence <= self._kept_at or self.unreadable is not None:
            return
        state, store = self.state, self._store
        try:
            last = await store.facts.read(self._session, after=state.sequence - 1, limit=1)
            if last:
                data = msgspec.json.encode(state)
                await store.rows.save_snapshot(self._session, state.sequence, last[0].link, state_fingerprint(), data)
                self._kept_at = state.sequence
        except Refusal as refusal:
            log.warning("the state of %s is not kept: %s", self._session, refusal.problem.message)
