"""One session: decides, commits, publishes, acts. Commands and outcomes pass through here one at a time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import TypeVar

import msgspec

from callboard.contracts.commands import RespondAction, ResumeThread, SubmitTurn
from callboard.contracts.commands.base import Answer
from callboard.contracts.errors import Problem, Refusal
from callboard.contracts.facts import AgentWoke, Fact
from callboard.contracts.ports.store import Append, StoredAnswer
from callboard.contracts.record import Origin, unreadable
from callboard.contracts.scope import SCHEDULE, Actor
from callboard.control.batch import Decision
from callboard.control.decide import SessionCommand, command, outcome
from callboard.control.effects import Effect, ScheduleSession, ShareRule, effects, sleeps, standing
from callboard.control.outcomes import HostTakenOver, Outcome, WakeTimeReached
from callboard.control.state.session import Session

from ..background_tasks import BackgroundTasks
from ..dependencies import Dependencies
from ..processes import Processes
from ..prompts.conversations import Conversations
from ..prompts.run_config import RunConfigBuilder
from ..secrets.append_redactor import redacted_report
from ..session_state import SessionState
from ..workspaces.context import WorkspaceContext
from .decision_inputs import DecisionInputsBuilder
from .external_agents import ExternalAgentRegistry
from .gate_decisions import GateDecisions
from .pending_answers import PendingAnswers
from .run_context import RunContexts

log = logging.getLogger(__name__)

_T = TypeVar("_T")


class SessionHost:
    """The one place where a session changes in this process. Not to be used from two event loops.

    Beside it stand what it decides on and what its effects ask for: `contexts`, `runs`, `verdicts` and `foreign`.
    """

    def __init__(
        self,
        session: str,
        parts: Dependencies,
        home: Callable[[str], WorkspaceContext],
        act: Callable[[SessionHost, Effect], None],
        setups: RunConfigBuilder,
        workspace: str = "",
    ) -> None:
        self.session = session
        self.parts = parts
        self.epoch = 0
        #: Why nothing may be decided here: a fact of the session or of its workspace cannot be read.
        self._problem: Problem | None = None
        self._home_of = home
        self._act = act
        self._lock = asyncio.Lock()
        self._work = BackgroundTasks()
        self._keeper = SessionState(session, parts.store, workspace)
        self.contexts = Conversations(session, parts, self._keeper)
        self.runs = RunContexts(setups, self._keeper, lambda: self.home, parts.clock.now)
        self.verdicts = GateDecisions(parts, self._keeper, self.runs)
        self.foreign = ExternalAgentRegistry()
        self.answers = PendingAnswers(self.report)
        self.processes = Processes(parts, self.report)
        self._knowing = DecisionInputsBuilder(
            parts, self._keeper, lambda: self.home, runs=self.runs, verdicts=self.verdicts
        )

    async def open(self) -> None:
        """Loads the session's state, takes the stream's lease and closes what a dead epoch left running."""
        store = self.parts.store
        await self._keeper.open()
        unread = self._keeper.unread
        self._problem = self.home.problem if unread is None else unreadable(unread).problem
        if self._problem is not None:
            # It can be read. Without a lease nothing is taken over, and no effect begins.
            log.warning("%s is for reading only: %s", self.session, self._problem.message)
            await self._show_newest()
            return
        self.epoch = await store.facts.lease(self.session)
        if self.state.sequence:
            await self._show_newest()
            await self.report(HostTakenOver(partials=await store.partials.read(self.session)))
            self.arm()

    async def _show_newest(self) -> None:
        """Tell the live feed where the session is."""
        newest = await self.parts.store.facts.read(self.session, after=self.state.sequence - 1, limit=1)
        self.parts.feed.facts(self.session, newest)

    def arm(self) -> None:
        """Sets the times that something in the session waits for, and carries on what has not reached its workspace yet."""
        home = self.home
        listed = home.sessions.get(self.session)
        for effect in standing(self.state):
            match effect:
                case ShareRule(rule=rule) if rule.rule_id in home.given:
                    pass
                case ScheduleSession() if listed is not None and listed.scheduled == sleeps(self.state):
                    pass
                case _:
                    self._act(self, effect)

    async def begin(self) -> None:
        """Makes a session ready that nobody has heard of: there is nothing to load."""
        self.epoch = await self.parts.store.facts.lease(self.session)

    async def command(
        self,
        request: SessionCommand,
        actor: Actor,
        kept: StoredAnswer | None = None,
        alongside: Callable[[Decision], Awaitable[None]] | None = None,
    ) -> Answer:
        """Carries out a command; returns its answer once it is durable. Raises Refusal.

        `kept` is the key and body hash under which the answer is stored; its answer is filled in here. `alongside` is begun
        right behind the append, to be in the same group commit; what it raises is not told: it must be tried again.
        """
        if isinstance(request, SubmitTurn | ResumeThread | RespondAction):
            await self.runs.ready()
        return await self._serial(self._command(request, actor, kept, alongside))

    async def report(self, report: Outcome) -> None:
        """Takes what an effect came to."""
        if isinstance(report, WakeTimeReached):
            await self.runs.ready()
        await self._serial(self._report(report))

    async def settled(self) -> None:
        """Waits until what was given so far is committed or refused, also where its giver has gone."""
        await self.answers.settled()
        await self._work.settled()

    async def save(self) -> None:
        """Keeps the deciders' state for the next opening."""
        await self._keeper.save()

    @property
    def state(self) -> Session:
        """The session as deciders see it."""
        return self._keeper.state

    @property
    def busy(self) -> bool:
        """True while something is decided or committed."""
        return bool(self._work)

    @property
    def home(self) -> WorkspaceContext:
        """The workspace as it is now."""
        return self._home_of(self.state.workspace)

    async def _serial(self, work: Coroutine[None, None, _T]) -> _T:
        """Runs the work after all work before it. A caller that goes away does not cut a commit in half."""

        if self._problem is not None:
            work.close()
            raise Refusal.from_problem(self._problem)

        async def alone() -> _T:
            async with self._lock:
                return await work

        return await self._work.run(alone())

    async def _command(
        self,
        request: SessionCommand,
        actor: Actor,
        kept: StoredAnswer | None,
        alongside: Callable[[Decision], Awaitable[None]] | None,
    ) -> Answer:
        known = await self._knowing.of(request, self.epoch, actor)
        decision, answer = command(self.state, request, known)
        stored = None if kept is None else msgspec.structs.replace(kept, answer=msgspec.json.encode(answer))
        origin = Origin(at=max(known.now, self.state.at), command_id=self.parts.ids.new("command"), actor=actor)
        await self._commit(decision, origin, stored, alongside)
        return answer

    async def _report(self, report: Outcome) -> None:
        known = await self._knowing.at(self.epoch)
        decision = outcome(self.state, redacted_report(report, self.parts.secrets), known)
        actor = SCHEDULE if any(_by_time(new.fact) for new in decision.facts) else None
        await self._commit(decision, Origin(at=max(known.now, self.state.at), actor=actor), None)

    async def _commit(
        self,
        decision: Decision,
        origin: Origin,
        answer: StoredAnswer | None,
        alongside: Callable[[Decision], Awaitable[None]] | None = None,
    ) -> None:
        if not decision.facts and answer is None:
            return
        look = self.parts.last_look
        facts, blobs = look.at(decision.facts, decision.blobs)
        batch = Append(
            stream=self.session,
            expected=self.state.sequence,
            epoch=self.epoch,
            facts=facts,
            origin=origin,
            blobs=blobs,
            answer=look.answer(answer),
            closed=decision.closed,
            ends=decision.ends,
            followed=alongside is not None,
        )
        if alongside is None:
            records = await self.parts.store.facts.append(batch)
        else:
            appending = asyncio.gather(
                self.parts.store.facts.append(batch), alongside(decision), return_exceptions=True
            )
            records, _ = await appending
            if isinstance(records, BaseException):
                raise records
        self._keeper.fold(records)
        for record in records:
            if record.fact.closes == "tool_call":
                self.verdicts.take(record.scope.tool_call)
        self.runs.take(records)
        self.foreign.take(records)
        self.answers.take(records)
        self.parts.feed.facts(self.session, records, batch.ends)
        await self.contexts.take(records)
        for effect in effects(records, imported=bool(self.state.source)):
            self._act(self, effect)
        if self._keeper.due:
            await self._keeper.save()


def _by_time(fact: Fact) -> bool:
    return isinstance(fact, AgentWoke) and fact.reason == "schedule"
