"""The conversations of a session's threads."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import msgspec

from callboard.contracts.errors import Refusal
from callboard.contracts.facts.session import ThreadOpened
from callboard.contracts.ports.conversation_store import StoredConversation
from callboard.contracts.record import Record
from callboard.control.state.session import Thread

from ..dependencies import Dependencies
from ..fingerprint import compute_conversation_fingerprint
from ..session_state import SessionState
from ..slices import yield_in_slices
from .history import History
from .pending_messages import list_receivers
from .stored_history import decode_history, encode_history

log = logging.getLogger(__name__)


#: Least number of new facts for which a conversation is stored. Folding fewer is quick.
STORED_FACTS = 1000


class Conversations:
    """Loads the conversation of a thread on demand and keeps it while the thread is open.

    Long conversations are also stored beside the session's snapshot, so that the first model call
    after a restart reads only the facts after it.
    """

    def __init__(self, session: str, dependencies: Dependencies, session_state: SessionState) -> None:
        self._session = session
        self._dependencies = dependencies
        self._session_state = session_state
        self._loaded: dict[str, History] = {}
        #: Newest fact of each thread's stored conversation, or of the last attempt to store it.
        self._stored: dict[str, int] = {}
        #: True while the conversations lack facts that the state has.
        self._is_applying = False

    async def get(self, thread: str) -> History:
        """Return the conversation of a thread."""
        history = self._loaded.get(thread)
        if history is None:
            history, after = await self._restore(thread) or await self._begin(thread)
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
        self._is_applying = True
        try:
            for record in records:
                await self._apply(record)
        except BaseException:
            # The conversations may lack facts. They are loaded again on their next use.
            self._loaded.clear()
            raise
        finally:
            self._is_applying = False
        for thread in list(self._loaded):
            state = self._session_state.state.threads.get(thread)
            if state is None or _has_ended(state):
                del self._loaded[thread]

    async def _apply(self, record: Record) -> None:
        author = record.scope.thread
        if isinstance(record.fact, ThreadOpened):
            # A new thread has no facts to read.
            self._loaded[author] = History(author, self._dependencies.store.blobs, self._read_fact)
        await self._add(author, record)
        if receivers := list_receivers(record):
            for receiver in {*receivers} - {author}:
                await self._add(receiver, record)

    async def save(self, *, closing: bool = False) -> None:
        """Store the long conversations that have grown by half. If the store refuses them, they are folded again.

        Args:
            closing: Store conversations with fewer new facts, too, because they leave the memory.
        """
        if self._is_applying or self._session_state.unreadable is not None:
            return
        state = self._session_state.state
        captured = {
            thread: history.capture_state(state.sequence)
            for thread, history in self._loaded.items()
            if history.has_turns
            and not _has_ended(state.threads[thread])
            and self._has_grown(state.threads[thread], closing=closing)
        }
        if not captured:
            return
        self._stored.update(dict.fromkeys(captured, state.sequence))
        threads = [name for name, thread in state.threads.items() if not _has_ended(thread)]
        try:
            newest = await self._read_fact(state.sequence)
            if newest is None:
                return
            # One after another: each takes up to `MAX_STORED_BYTES` of memory.
            for thread, history in captured.items():
                parts = await encode_history(history)
                if parts is not None:
                    conversation = StoredConversation(
                        thread=thread,
                        sequence=state.sequence,
                        link=newest.link,
                        fingerprint=compute_conversation_fingerprint(),
                        parts=parts,
                    )
                    await self._dependencies.store.conversations.save(self._session, conversation, threads)
        except Refusal as refusal:
            log.warning("the conversations of %s were not stored: %s", self._session, refusal.problem.message)

    def _has_grown(self, thread: Thread, *, closing: bool) -> bool:
        """Return True if enough facts are new: storing a conversation costs in proportion to its size."""
        floor, newest = find_history_floor(thread), self._session_state.state.sequence
        covered, new = newest - floor, newest - max(self._stored.get(thread.thread, 0), floor)
        return new >= STORED_FACTS and (closing or 3 * new >= covered)

    async def _begin(self, thread: str) -> tuple[History, int]:
        """Return a conversation without turns, and the sequence after which its turns begin."""
        history = History(thread, self._dependencies.store.blobs, self._read_fact)
        state = self._session_state.state.threads[thread]
        after = find_history_floor(state)
        if 0 < state.context_usage.at <= after:
            # Read the summary first: later turns may be omitted.
            summary = await self._read_fact(state.context_usage.at)
            if summary is not None:
                await history.add(summary)
        return history, after

    async def _restore(self, thread: str) -> tuple[History, int] | None:
        """Return the stored conversation and its newest fact. None if it is missing or does not fit the log."""
        state, store = self._session_state.state, self._dependencies.store
        floor = find_history_floor(state.threads[thread])
        if state.sequence - floor < STORED_FACTS:
            return None
        try:
            stored = await store.conversations.read(self._session, thread, compute_conversation_fingerprint())
        except Refusal as refusal:
            log.warning("the conversation of %s cannot be read: %s", thread, refusal.problem.message)
            return None
        # All its turns are omitted now, and reading from the floor takes fewer facts.
        if stored is None or stored.sequence < floor:
            return None
        newest = await self._read_fact(stored.sequence)
        if newest is None or newest.link != stored.link:
            log.warning("the conversation of %s does not fit its log: it is read from the log", thread)
            return None
        try:
            restored = await decode_history(stored.parts)
        except msgspec.MsgspecError as error:
            log.warning("the conversation of %s does not decode: it is read from the log (%s)", thread, error)
            return None
        self._stored[thread] = stored.sequence
        return History(thread, store.blobs, self._read_fact, restored), stored.sequence

    async def _read_fact(self, sequence: int) -> Record | None:
        records = await self._dependencies.store.facts.read(self._session, after=sequence - 1, until=sequence, limit=1)
        return records[0] if records else None

    async def _add(self, thread: str, record: Record) -> None:
        context = self._loaded.get(thread)
        # A conversation that was loaded after the commit contains the fact.
        if context is None or record.sequence <= context.sequence:
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


def _has_ended(thread: Thread) -> bool:
    return thread.child is not None and thread.child.status in _TERMINAL


_TERMINAL = ("completed", "failed", "cancelled")
