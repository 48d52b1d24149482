"""One session: it decides, commits, publishes and starts effects, one request at a time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import TypeVar

import msgspec

from callboard.contracts.commands.action import RespondAction
from callboard.contracts.commands.base import Answer
from callboard.contracts.commands.turn import ResumeThread, SubmitTurn
from callboard.contracts.errors import Problem, Refusal
from callboard.contracts.facts.agent import AgentWoke
from callboard.contracts.facts.base import Fact
from callboard.contracts.ports.store import Append, StoredAnswer
from callboard.contracts.record import Origin, build_unreadable_refusal
from callboard.contracts.scope import SCHEDULE, Actor
from callboard.control.batch import Decision
from callboard.control.decide import SessionCommand, decide_command, decide_outcome
from callboard.control.effects import (
    Effect,
    ListSession,
    ScheduleSession,
    ShareRule,
    derive_effects,
    derive_pending_effects,
    has_sleeping_agents,
)
from callboard.control.outcomes import HostTakenOver, Outcome, WakeTimeReached
from callboard.control.state.session import Session

from ..background_tasks import BackgroundTasks
from ..dependencies import Dependencies
from ..processes import Processes
from ..prompts.conversations import Conversations
from ..prompts.run_config import RunConfigBuilder
from ..secrets.append_redactor import redact_outcome
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
    """The only place where a session changes in this process. Use it from one event loop.

    Its effects share `conversations`, `run_contexts`, `gate_decisions` and `external_agents`.
    """

    def __init__(
        self,
        session: str,
        dependencies: Dependencies,
        workspace_context: Callable[[str], WorkspaceContext],
        start_effect: Callable[[SessionHost, Effect], None],
        run_configs: RunConfigBuilder,
        workspace: str = "",
    ) -> None:
        self.session = session
        self.dependencies = dependencies
        self.epoch = 0
        #: Why the session is read-only: a fact of it or of its workspace cannot be read.
        self._problem: Problem | None = None
        self._workspace_context = workspace_context
        self._start_effect = start_effect
        self._lock = asyncio.Lock()
        self._work = BackgroundTasks()
        self._session_state = SessionState(session, dependencies.store, workspace)
        self.conversations = Conversations(session, dependencies, self._session_state)
        self.run_contexts = RunContexts(
            run_configs, self._session_state, lambda: self.workspace, dependencies.clock.now
        )
        self.gate_decisions = GateDecisions(dependencies, self._session_state, self.run_contexts)
        self.external_agents = ExternalAgentRegistry()
        self.pending_answers = PendingAnswers(self.report)
        self.processes = Processes(dependencies, self.report)
        self._decision_inputs = DecisionInputsBuilder(
            dependencies,
            self._session_state,
            lambda: self.workspace,
            runs=self.run_contexts,
            gate_decisions=self.gate_decisions,
        )

    async def open(self) -> None:
        """Load the session's state, acquire its lease, and close what a dead epoch left running."""
        store = self.dependencies.store
        await self._session_state.open()
        unread = self._session_state.unreadable
        self._problem = self.workspace.problem if unread is None else build_unreadable_refusal(unread).problem
        if self._problem is not None:
            # A read-only session has no lease: it takes nothing over and starts no effect.
            log.warning("%s is read-only: %s", self.session, self._problem.message)
            await self._show_newest()
            return
        self.epoch = await store.facts.acquire_lease(self.session)
        if self.state.sequence:
            await self._show_newest()
            await self.report(HostTakenOver(partials=await store.partials.read(self.session)))
            self.arm_timers()

    async def _show_newest(self) -> None:
        """Send the newest fact to the live feed."""
        newest = await self.dependencies.store.facts.read(self.session, after=self.state.sequence - 1, limit=1)
        self.dependencies.feed.publish_facts(self.session, newest)

    def arm_timers(self) -> None:
        """Set the session's timers, and repeat effects that have not reached its workspace."""
        workspace = self.workspace
        listed = workspace.sessions.get(self.session)
        for effect in derive_pending_effects(self.state):
            match effect:
                case ShareRule(rule=rule) if rule.rule_id in workspace.shared_rules:
                    pass
                case ScheduleSession() if listed is not None and listed.scheduled == has_sleeping_agents(self.state):
                    pass
                case _:
                    self._start_effect(self, effect)

    async def start(self) -> None:
        """Acquire the lease of a new session."""
        self.dependencies.feed.begin(self.session)
        self.epoch = await self.dependencies.store.facts.acquire_lease(self.session)

    async def run_command(
        self,
        request: SessionCommand,
        actor: Actor,
        stored_answer: StoredAnswer | None = None,
        list_session: Callable[[Decision], Awaitable[None]] | None = None,
    ) -> Answer:
        """Run a command and return its answer when it is durable.

        `stored_answer` has the key and body hash under which the answer is stored. `list_session`
        lists a new session. It starts right after the append, to join its group commit. Its errors
        are ignored, so the caller repeats it.
        """
        if isinstance(request, SubmitTurn | ResumeThread | RespondAction):
            await self.run_contexts.wait_ready()
        return await self._run_serially(self._decide_command(request, actor, stored_answer, list_session))

    async def report(self, outcome: Outcome) -> None:
        """Decide on the outcome of an effect."""
        if isinstance(outcome, WakeTimeReached):
            await self.run_contexts.wait_ready()
        await self._run_serially(self._report(outcome))

    async def report_end(self, outcome: Outcome) -> None:
        """Decide on the outcome with which the current task ends.

        The commit runs in the current task, which must not be cancelled any more (`is_committing`).
        """
        task = asyncio.current_task()
        if task is not None:
            self._work.add(task)
        await self._run_alone(self._report(outcome))

    def is_committing(self, task: asyncio.Task[None]) -> bool:
        """Return True if the task reports its end."""
        return task in self._work

    async def wait_settled(self) -> None:
        """Wait until every request so far is committed or refused."""
        await self.pending_answers.wait_settled()
        await self._work.wait_all()

    async def save(self) -> None:
        """Save a snapshot of the state and the long conversations for the next opening."""
        await self._session_state.save()
        await self.conversations.save(closing=True)

    @property
    def state(self) -> Session:
        """The session's state, as deciders see it."""
        return self._session_state.state

    @property
    def is_busy(self) -> bool:
        """Return True while a decision or commit is running."""
        return bool(self._work)

    @property
    def workspace(self) -> WorkspaceContext:
        """The session's workspace as it is now."""
        return self._workspace_context(self.state.workspace)

    async def _run_serially(self, work: Coroutine[None, None, _T]) -> _T:
        """Run the work after all earlier work. A cancelled caller does not interrupt a commit."""
        return await self._work.run(self._run_alone(work))

    async def _run_alone(self, work: Coroutine[None, None, _T]) -> _T:
        """Run the work after all earlier work, in the current task."""
        if self._problem is not None:
            work.close()
            raise Refusal.from_problem(self._problem)
        async with self._lock:
            return await work

    async def _decide_command(
        self,
        request: SessionCommand,
        actor: Actor,
        stored_answer: StoredAnswer | None,
        list_session: Callable[[Decision], Awaitable[None]] | None,
    ) -> Answer:
        inputs = await self._decision_inputs.build_for_command(request, self.epoch, actor)
        decision, answer = decide_command(self.state, request, inputs)
        stored = (
            None
            if stored_answer is None
            else msgspec.structs.replace(stored_answer, answer=msgspec.json.encode(answer))
        )
        origin = Origin(at=max(inputs.now, self.state.at), command_id=self.dependencies.ids.new("command"), actor=actor)
        await self._commit(decision, origin, stored, list_session)
        return answer

    async def _report(self, outcome: Outcome) -> None:
        inputs = await self._decision_inputs.build_for_outcome(self.epoch)
        decision = decide_outcome(self.state, redact_outcome(outcome, self.dependencies.secrets), inputs)
        actor = SCHEDULE if any(_is_scheduled(new.fact) for new in decision.facts) else None
        await self._commit(decision, Origin(at=max(inputs.now, self.state.at), actor=actor), None)

    async def _commit(
        self,
        decision: Decision,
        origin: Origin,
        answer: StoredAnswer | None,
        list_session: Callable[[Decision], Awaitable[None]] | None = None,
    ) -> None:
        if not decision.facts and answer is None:
            return
        redactor = self.dependencies.append_redactor
        facts, blobs = redactor.redact(decision.facts, decision.blobs)
        batch = Append(
            stream=self.session,
            expected=self.state.sequence,
            epoch=self.epoch,
            facts=facts,
            origin=origin,
            blobs=blobs,
            answer=redactor.redact_answer(answer),
            closed=decision.closed,
            ends=decision.ends,
            followed=list_session is not None,
        )
        if list_session is not None:
            # It starts while the append is queued.
            self._work.start(_try_to_list(list_session(decision)))
        records = await self.dependencies.store.facts.append(batch)
        self._session_state.apply_decision(decision, records)
        for record in records:
            if record.fact.closes == "tool_call":
                self.gate_decisions.pop(record.scope.tool_call)
        self.run_contexts.apply(records)
        self.external_agents.apply(records)
        self.pending_answers.apply(records)
        self.dependencies.feed.publish_facts(self.session, records, batch.ends)
        await self.conversations.apply(records)
        for effect in derive_effects(records, imported=bool(self.state.source)):
            # `list_session`, or else the caller, lists the session.
            if list_session is None or not isinstance(effect, ListSession):
                self._start_effect(self, effect)
        if self._session_state.needs_snapshot:
            await self._session_state.save()
            await self.conversations.save()


async def _try_to_list(listing: Awaitable[None]) -> None:
    try:
        await listing
    except Refusal as refusal:
        # The caller lists the session again, and receives the reason.
        log.info("a session was not listed with its first facts: %s", refusal.problem.message)
    except Exception:
        log.exception("a session was not listed with its first facts")


def _is_scheduled(fact: Fact) -> bool:
    return isinstance(fact, AgentWoke) and fact.reason == "schedule"
