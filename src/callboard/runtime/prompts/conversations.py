"""The conversations of a session's threads, as their models are told them."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from callboard.contracts.errors import Refusal
from callboard.contracts.facts import ThreadOpened
from callboard.contracts.record import Record
from callboard.control.state.session import Thread

from ..dependencies import Dependencies
from ..session_state import SessionState
from ..slices import in_slices
from .history import History
from .pending_messages import receivers

log = logging.getLogger(__name__)


class Conversations:
    """Holds the context of each thread that has not ended: from its opening on, or loaded when it is next needed."""

    def __init__(self, session: str, dependencies: Dependencies, session_state: SessionState) -> None:
        self._session = session
        self._dependencies = dependencies
        self._session_state = session_state
        self._loaded: dict[str, History] = {}

    async def get(self, thread: str) -> History:
        """The conversation of a thread, from where its facts are told."""
        found = self._loaded.get(thread)
        if found is None:
            found = History(thread, self._dependencies.store.blobs, self._fact)
            of = self._session_state.state.threads[thread]
            after = history_floor(of)
            if 0 < of.context_usage.at <= after:
                # The summary is told also where turns are left out that came after it.
                summary = await self._fact(of.context_usage.at)
                if summary is not None:
                    await found.add(summary)
            # What is committed while this reads is read as well: nobody else adds it to a context that is still being made.
            while after < self._session_state.state.sequence:
                records = await self._dependencies.store.facts.read(
                    self._session, after=after, until=self._session_state.state.sequence, limit=1000
                )
                async for record in in_slices(records):
                    await found.add(record)
                    after = record.sequence
            self._loaded[thread] = found
        return found

    async def apply(self, records: Sequence[Record]) -> None:
        """Adds committed facts to the contexts that they concern. One that cannot take them is made anew from the log when it
        is next needed, and so is that of a child that has ended."""
        for record in records:
            if isinstance(record.fact, ThreadOpened):
                # All of its facts are still to come: nothing has to be read for it.
                self._loaded[record.scope.thread] = History(
                    record.scope.thread, self._dependencies.store.blobs, self._fact
                )
            for thread in {record.scope.thread, *receivers(record)}:
                await self._add(thread, record)
        for thread in list(self._loaded):
            of = self._session_state.state.threads.get(thread)
            if of is None or (of.child is not None and of.child.status in _ENDED):
                del self._loaded[thread]

    async def _fact(self, sequence: int) -> Record | None:
        found = await self._dependencies.store.facts.read(self._session, after=sequence - 1, until=sequence, limit=1)
        return found[0] if found else None

    async def _add(self, thread: str, record: Record) -> None:
        context = self._loaded.get(thread)
        if context is None:
            return
        try:
            await context.add(record)
        except Refusal as refusal:
            log.warning("the context of %s is made anew: %s", thread, refusal.problem.message)
            self._loaded.pop(thread, None)


def history_floor(thread: Thread) -> int:
    """The sequence behind which all lies that the thread's model is told: also the input of turns that still wait, and of the
    turn under way, which is told whatever was summarised."""
    told = max(thread.opened_sequence - 1, thread.cut, 0)
    if not thread.context_usage.compacted:
        return told
    waiting = (*thread.queue, *((thread.submitted,) if thread.submitted is not None else ()))
    first = (one.sequence for one in (*thread.marks, *waiting, *thread.inbox))
    return max(told, min((thread.context_usage.compacted, *(one - 1 for one in first))))


_ENDED = ("completed", "failed", "cancelled")
