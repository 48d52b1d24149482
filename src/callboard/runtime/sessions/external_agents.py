"""What a session knows of agents that are not of our loop: those that are there for its threads, and what becomes of calls."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable

from callboard.contracts.content import Text
from callboard.contracts.errors import Refusal
from callboard.contracts.facts import ActionResolved, Fact, ToolStarted
from callboard.contracts.ports.external import AgentSettings, ExternalSession, ReachedAgent, RemoteSession
from callboard.contracts.record import Record

from ..background_tasks import BackgroundTasks

log = logging.getLogger(__name__)


class ExpectedCall:
    """What becomes of one call: `begun` is the fact that let it go on or ended it before, `ended` the one that ended it;
    `answer` is what a person said to what it asked."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self.answer = Text()
        self.started: asyncio.Future[Fact] = loop.create_future()
        self.ended: asyncio.Future[Fact] = loop.create_future()

    def apply(self, fact: Fact) -> None:
        """The next fact of the call."""
        if not self.started.done():
            self.started.set_result(fact)
        if fact.closes == "tool_call" and not self.ended.done():
            self.ended.set_result(fact)


class ExternalAgentRegistry:
    """The agents of a session that are there, by thread, and the open calls that somebody waits for. The agents of the
    threads in `prompted` have a prompt under way, which tells when they are gone. `settings` are the newest on record of each
    thread's program."""

    def __init__(self) -> None:
        self.prompted: set[str] = set()
        self.settings: dict[str, AgentSettings] = {}
        self._programs: dict[str, ExternalSession] = {}
        self._remotes: dict[str, RemoteSession] = {}
        self._watching: dict[str, asyncio.Task[None]] = {}
        self._watches = BackgroundTasks()
        self._expected: dict[str, ExpectedCall] = {}
        self._own: set[str] = set()

    def program(self, thread: str) -> ExternalSession | None:
        """The program that runs for the thread."""
        return self._programs.get(thread)

    def remote(self, thread: str) -> RemoteSession | None:
        """The agent elsewhere that was reached for the thread."""
        return self._remotes.get(thread)

    def session(self, thread: str) -> ReachedAgent | None:
        """The agent that is there for the thread."""
        return self._programs.get(thread) or self._remotes.get(thread)

    def add_program(self, thread: str, session: ExternalSession, died: Callable[[str], Awaitable[None]]) -> None:
        """The program runs for the thread from now on; `died` is told how it ended where it does between its prompts."""
        self._programs[thread] = session
        self._watching[thread] = self._watches.start(self._watch(thread, session, died))

    def add_remote(self, thread: str, session: RemoteSession) -> None:
        """The agent elsewhere was reached for the thread. Whether it still is shows when it is asked something."""
        self._remotes[thread] = session

    async def end(self, thread: str) -> None:
        """Ends the thread's agent, with all that it started."""
        found = (self._programs.pop(thread, None), self._remotes.pop(thread, None))
        self.settings.pop(thread, None)
        watching = self._watching.pop(thread, None)
        if watching is not None:
            watching.cancel()
        for session in found:
            if session is not None:
                await session.close()

    async def wait_settled(self) -> None:
        """Waits until what was seen of ended agents is told. Every agent has been ended by then."""
        await self._watches.wait_all()

    @property
    def threads(self) -> tuple[str, ...]:
        """Those for which an agent is there."""
        return (*self._programs, *self._remotes)

    def expect(self, call: str, *, own: bool) -> ExpectedCall:
        """What becomes of the call from now on. One of the agent's `own` is run by nobody here."""
        if own:
            self._own.add(call)
        expected = self._expected[call] = ExpectedCall()
        return expected

    def is_run_by_agent(self, call: str) -> bool:
        """True for a call that the agent runs."""
        return call in self._own

    async def _watch(self, thread: str, session: ExternalSession, died: Callable[[str], Awaitable[None]]) -> None:
        how = await session.gone()
        if thread in self.prompted or self._programs.get(thread) is not session:
            return
        # What `died` does ends the agent, and must not end this.
        self._watching.pop(thread, None)
        try:
            await died(how)
        except Refusal as refusal:
            log.warning("that an agent is gone is not told yet: %s", refusal.problem.message)

    def apply(self, records: Iterable[Record]) -> None:
        """Tells those who wait."""
        for record in records:
            fact, call = record.fact, record.scope.tool_call
            if call in self._expected and isinstance(fact, ActionResolved):
                self._expected[call].answer = fact.answer
            if call not in self._expected or not (isinstance(fact, ToolStarted) or fact.closes == "tool_call"):
                continue
            self._expected[call].apply(fact)
            if fact.closes == "tool_call":
                del self._expected[call]
                self._own.discard(call)
