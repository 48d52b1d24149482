"""What a session knows of agents that are programs of their own: those that run for its threads, and what becomes of calls."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable

from callboard.contracts.errors import Refusal
from callboard.contracts.facts import Fact, ToolStarted
from callboard.contracts.ports.external import ExternalSession
from callboard.contracts.record import Record

log = logging.getLogger(__name__)


class Expected:
    """What becomes of one call: `begun` is the fact that let it go on or ended it before, `ended` the one that ended it."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self.begun: asyncio.Future[Fact] = loop.create_future()
        self.ended: asyncio.Future[Fact] = loop.create_future()

    def take(self, fact: Fact) -> None:
        """The next fact of the call."""
        if not self.begun.done():
            self.begun.set_result(fact)
        if fact.closes == "tool_call" and not self.ended.done():
            self.ended.set_result(fact)


class Foreign:
    """The running agents of a session by thread, and the open calls that somebody waits for. The agents of the threads in
    `prompted` have a prompt under way, which tells when they are gone."""

    def __init__(self) -> None:
        self.prompted: set[str] = set()
        self._sessions: dict[str, ExternalSession] = {}
        self._watching: dict[str, asyncio.Task[None]] = {}
        self._expected: dict[str, Expected] = {}
        self._own: set[str] = set()

    def session(self, thread: str) -> ExternalSession | None:
        """The agent that runs for the thread."""
        return self._sessions.get(thread)

    def keep(self, thread: str, session: ExternalSession, died: Callable[[str], Awaitable[None]]) -> None:
        """The agent runs for the thread from now on; `died` is told how it ended where it does between its prompts."""
        self._sessions[thread] = session
        self._watching[thread] = asyncio.create_task(self._watch(thread, session, died))

    async def end(self, thread: str) -> None:
        """Ends the thread's agent, with all that it started."""
        session, watching = self._sessions.pop(thread, None), self._watching.pop(thread, None)
        if watching is not None:
            watching.cancel()
        if session is not None:
            await session.close()

    @property
    def threads(self) -> tuple[str, ...]:
        """Those for which an agent runs."""
        return tuple(self._sessions)

    def expect(self, call: str, *, own: bool) -> Expected:
        """What becomes of the call from now on. One of the agent's `own` is run by nobody here."""
        if own:
            self._own.add(call)
        expected = self._expected[call] = Expected()
        return expected

    def runs_itself(self, call: str) -> bool:
        """True for a call that the agent runs."""
        return call in self._own

    async def _watch(self, thread: str, session: ExternalSession, died: Callable[[str], Awaitable[None]]) -> None:
        how = await session.gone()
        if thread in self.prompted or self._sessions.get(thread) is not session:
            return
        # What `died` does ends the agent, and must not end this.
        self._watching.pop(thread, None)
        try:
            await died(how)
        except Refusal as refusal:
            log.warning("that an agent is gone is not told yet: %s", refusal.problem.message)

    def take(self, records: Iterable[Record]) -> None:
        """Tells those who wait."""
        for record in records:
            fact, call = record.fact, record.scope.tool_call
            if call not in self._expected or not (isinstance(fact, ToolStarted) or fact.closes == "tool_call"):
                continue
            self._expected[call].take(fact)
            if fact.closes == "tool_call":
                del self._expected[call]
                self._own.discard(call)
