"""External agents that a session is connected to, and the calls that wait for their facts."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable

from callboard.contracts.content import Text
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.action import ActionResolved
from callboard.contracts.facts.base import Fact
from callboard.contracts.facts.tool import ToolStarted
from callboard.contracts.ports.external import AgentSettings, ExternalSession, ReachedAgent, RemoteSession
from callboard.contracts.record import Record

from ..background_tasks import BackgroundTasks

log = logging.getLogger(__name__)


class ExpectedCall:
    """The facts of one call.

    `started` is the fact that allowed the call or ended it before that, `ended` the fact that ended
    it. `answer` is a person's answer to its question.
    """

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self.answer = Text()
        self.started: asyncio.Future[Fact] = loop.create_future()
        self.ended: asyncio.Future[Fact] = loop.create_future()

    def apply(self, fact: Fact) -> None:
        """Apply the next fact of the call."""
        if not self.started.done():
            self.started.set_result(fact)
        if fact.closes == "tool_call" and not self.ended.done():
            self.ended.set_result(fact)


class ExternalAgentRegistry:
    """The connected agents of a session by thread, and its calls that wait for facts.

    Threads in `prompted` have a running prompt, which reports that its agent has ended. `settings`
    holds the newest recorded settings of each thread's agent.
    """

    def __init__(self) -> None:
        self.prompted: set[str] = set()
        self.settings: dict[str, AgentSettings] = {}
        self._acp_sessions: dict[str, ExternalSession] = {}
        self._remote_sessions: dict[str, RemoteSession] = {}
        self._watch_tasks: dict[str, asyncio.Task[None]] = {}
        self._watches = BackgroundTasks()
        self._expected: dict[str, ExpectedCall] = {}
        self._own: set[str] = set()

    def get_acp_session(self, thread: str) -> ExternalSession | None:
        """Return the session with the running ACP process of the thread."""
        return self._acp_sessions.get(thread)

    def get_remote_session(self, thread: str) -> RemoteSession | None:
        """Return the session with the connected remote agent of the thread."""
        return self._remote_sessions.get(thread)

    def get_session(self, thread: str) -> ReachedAgent | None:
        """Return the session with the connected agent of the thread, over ACP or remote."""
        return self._acp_sessions.get(thread) or self._remote_sessions.get(thread)

    def add_acp_session(self, thread: str, session: ExternalSession, died: Callable[[str], Awaitable[None]]) -> None:
        """Add a running ACP process. `died` receives the reason if it ends between two prompts."""
        self._acp_sessions[thread] = session
        self._watch_tasks[thread] = self._watches.start(self._watch(thread, session, died))

    def add_remote_session(self, thread: str, session: RemoteSession) -> None:
        """Add a connected remote agent. Its next prompt shows whether it is still reachable."""
        self._remote_sessions[thread] = session

    async def end(self, thread: str) -> None:
        """End the thread's agent with its child processes."""
        sessions = (self._acp_sessions.pop(thread, None), self._remote_sessions.pop(thread, None))
        self.settings.pop(thread, None)
        watching = self._watch_tasks.pop(thread, None)
        if watching is not None:
            watching.cancel()
        for session in sessions:
            if session is not None:
                await session.close()

    async def wait_settled(self) -> None:
        """Wait until the ends of all agents are recorded. End every agent first."""
        await self._watches.wait_all()

    @property
    def threads(self) -> tuple[str, ...]:
        """The threads with a connected agent."""
        return (*self._acp_sessions, *self._remote_sessions)

    def expect(self, call: str, *, by_agent: bool) -> ExpectedCall:
        """Wait for the facts of a call from now on. The agent itself runs calls `by_agent`."""
        if by_agent:
            self._own.add(call)
        expected = self._expected[call] = ExpectedCall()
        return expected

    def is_run_by_agent(self, call: str) -> bool:
        """Return True if the agent runs the call."""
        return call in self._own

    async def _watch(self, thread: str, session: ExternalSession, died: Callable[[str], Awaitable[None]]) -> None:
        how = await session.wait_for_end()
        if thread in self.prompted or self._acp_sessions.get(thread) is not session:
            return
        # `died` ends the agent, which must not cancel this task.
        self._watch_tasks.pop(thread, None)
        try:
            await died(how)
        except Refusal as refusal:
            log.warning("the end of an agent was not recorded: %s", refusal.problem.message)

    def apply(self, records: Iterable[Record]) -> None:
        """Pass facts to the calls that wait for them."""
        if not self._expected:
            return
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
