"""The conversations of a session's threads, as their models are told them."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from callboard.contracts.errors import Refusal
from callboard.contracts.record import Record

from .context import Context
from .keeper import StateKeeper
from .parts import Parts

log = logging.getLogger(__name__)


class Contexts:
    """Holds the context of each thread that has asked a model; a context is loaded when it is first needed."""

    def __init__(self, session: str, parts: Parts, keeper: StateKeeper) -> None:
        self._session = session
        self._parts = parts
        self._keeper = keeper
        self._loaded: dict[str, Context] = {}

    @property
    def after(self) -> int:
        """The sequence up to which facts are left out of the contexts."""
        return max((context.after for context in self._loaded.values()), default=0)

    async def of(self, thread: str) -> Context:
        """The conversation of a thread."""
        found = self._loaded.get(thread)
        if found is None:
            limit = self._parts.limits.context_facts
            found = Context(thread, self._parts.store.blobs, limit)
            after = max(0, self._keeper.state.sequence - limit)
            if after:
                found.cut()
            # What is committed while this reads is read as well: nobody else adds it to a context that is still being made.
            while after < self._keeper.state.sequence:
                for record in await self._parts.store.facts.read(
                    self._session, after=after, until=self._keeper.state.sequence, limit=1000
                ):
                    await found.add(record)
                    after = record.sequence
            self._loaded[thread] = found
        return found

    async def take(self, records: Sequence[Record]) -> None:
        """Adds committed facts to the contexts. One that cannot take them is made anew from the log when next needed."""
        for thread, context in list(self._loaded.items()):
            try:
                for record in records:
                    await context.add(record)
            except Refusal as refusal:
                log.warning("the context of %s is made anew: %s", thread, refusal.problem.message)
                self._loaded.pop(thread, None)
