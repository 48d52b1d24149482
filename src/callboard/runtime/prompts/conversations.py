"""The conversations of a session's threads."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from callboard.contracts.errors import Refusal
from callboard.contracts.facts.session import ThreadOpened
from callboard.contracts.record import Record
from callboard.control.state.session import Thread

from ..dependencies import Dependencies
from ..session_state import SessionState
from ..slices import yield_in_slices
from .history import History
from .pending_messages import list_receivers

log = logging.getLogger(__name__)


class Conversations:
    """Loads the conversation of a thread on demand and keeps it while the thread is open."""

    def __init__(self, session: str, dependencies: Dependencies, session_state: SessionState) -> None:
        self._session = session
        self._dependencies = dependencies
        self._session_state = session_state
        self._loaded: dict[str, History] = {}

    async def get(self, thread: str) -> History:
        """Return the conversation of a thread."""
        history = self._loaded.get(thread)
        if history is None:
            history = History(thread, self._dependencies.store.blobs, self._read_fact)
            state = self._session_state.state.threads[thread]
            after = find_history_floor(state)
            if 0 < state.context_usage.at <= after:
                # Read the summary first: later turns may be omitted.
                summary = await self._read_fact(state.context_usage.at)
                if summary is not None:
                    await history.add(summary)
            # Also read facts that are committed during this read, because `apply` does not add them
            # yet.
            while after < self._session_state.state.sequence:
                records = await self._dependencies.store.facts.read(
                    self._session, after=after, until=self._session_state.state.sequence, limit=1000
                )
                async for record in yield_in_slices(records):
                    await history.add(record)
                    after = record.sequence
            self._loaded[thread] = history
        return history

    async def apply(self, records: Sequence[Record]) -> None:
        """Add committed facts to the conversations that they concern.

        A conversation that fails to update is dropped and loaded again on its next use.
        Conversations of ended children are dropped.
        """
        for record in records:
            if isinstance(record.fact, ThreadOpened):
                # A new thread has no facts to read.
                self._loaded[record.scope.thread] = History(
                    record.scope.thread, self._dependencies.store.blobs, self._read_fact
                )
            for thread in {record.scope.thread, *list_receivers(record)}:
                await self._add(thread, record)
        for thread in list(self._loaded):
            state = self._session_state.state.threads.get(thread)
            if state is None or (state.child is not None and state.child.status in _TERMINAL):
                del self._loaded[thread]

    async def _read_fact(self, sequence: int) -> Record | None:
        records = await self._dependencies.store.facts.read(self._session, after=sequence - 1, until=sequence, limit=1)
        return records[0] if records else None

    async def _add(self, thread: str, record: Record) -> None:
        context = self._loaded.get(thread)
        if context is None:
            return
        try:
            await context.add(record)
        except Refusal as refusal:
            log.warning("the conversation of %s will be loaded again: %s", thread, refusal.problem.message)
            self._loaded.pop(thread, None)


def find_history_floor(thread: Thread) -> int:
    """Return the sequence after which all facts lie that the thread's model needs.

    Inputs of waiting turns and of the current turn are needed even if they were summarised.
    """
    start = max(thread.opened_sequence - 1, thread.context_after, 0)
    if not thread.context_usage.compacted:
        return start
    waiting = (*thread.queue, *((thread.submitted,) if thread.submitted is not None else ()))
    first = (entry.sequence for entry in (*thread.marks, *waiting, *thread.inbox))
    return max(start, min((thread.context_usage.compacted, *(entry - 1 for entry in first))))


_TERMINAL = ("completed", "failed", "cancelled")
